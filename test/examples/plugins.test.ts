import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve, toLines } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { exchange } from '../support/raw-http.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const MONSTERA = { id: 1n, name: ' Monstera ' };

describe('The executable, with default settings and', () => {
  const parent = temporaryFolder();

  /** Starts a service in a folder of its own, with a plugin of docs/examples or the text of one. */
  async function startWith(plugin: string, settings: Readonly<Record<string, string>> = {}, files = {}) {
    const folder = mkdtempSync(join(parent, 'plugin-'));
    const all = { 'plugin.mjs': plugin, ...files };
    for (const [name, text] of Object.entries(all)) writeFileSync(join(folder, name), text);
    const path = plugin.endsWith('.js') ? inRepository(`docs/examples/${plugin}`) : './plugin.mjs';
    const service = serve(folder, { PLUGINS: path, MANAGEMENT_PORT: '0', ...settings });
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    const get = async (path: string, from = port) => (await fetch(`http://127.0.0.1:${from}${path}`)).text();
    return {
      ...{ folder, service, port, get },
      manage: (path: string) => get(path, managementPort),
      /** Creates a plant, and returns the outcome. */
      create: async (token = TOKEN) => (await create(port, MONSTERA, { Authorization: `Bearer ${token}` }))?.outcome,
      /** Expects that no plugin loses metrics, lines of the log or a clean stop. Returns the lines. */
      stop: async (readLog = () => service.stderr) => {
        expect(await get('/metrics', managementPort)).to.match(/^plant_store_plants_total\{outcome="added"\} 1$/m);
        expect(await service.stop()).to.equal(0);
        const lines = toLines(readLog()).flatMap((line) => (line.startsWith('{') ? JSON.parse(line) : []));
        expect(lines.at(-1)).to.include({ msg: 'stopped', closed: true });
        return lines;
      },
    };
  }

  it('a storage that its scheme selects', async () => {
    const service = await startWith('plugins/storage.js', { DATABASE_URL: 'garden:' });
    expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
    expect(await service.manage('/readyz')).to.include('"storage":"ok"');
    expect((await service.stop())[0]).to.include({ msg: 'started', storage: 'garden:' });
  });

  it('a token verifier that reloads its own tokens', async () => {
    const files = { 'tokens.txt': 'ali\n' };
    const service = await startWith('plugins/token-verifier.js', { HOST: '0.0.0.0', ACCESS_TOKENS: '' }, files);
    expect([await service.create('ali'), await service.create('beri')]).to.deep.equal([200, 40102]);
    writeFileSync(join(service.folder, 'tokens.txt'), 'beri\n');
    service.service.kill('SIGHUP');
    await waitUntil('the tokens are reloaded', async () => (await service.create('ali')) === 40102);
    expect(await service.create('beri')).to.equal(40902);
    await service.stop();
  });

  it('middlewares that limit the rate, add a header and a route, which the log and the metrics include', async () => {
    const service = await startWith('plugins/middleware.js');
    expect(await service.get('/hello')).to.equal('Hello, gardener');
    const created = await create(service.port, MONSTERA);
    expect(created).to.have.nested.include({ outcome: 200, 'headers.x-garden': 'north' });
    const attempts = await Promise.all(
      Array.from({ length: 600 }, () => fetch(`http://127.0.0.1:${service.port}/hello`)),
    );
    const limited = attempts.find(({ status }) => status === 429);
    expect(await limited?.json()).to.deep.equal({ error: 42900, message: 'Too many requests' });
    expect(await service.manage('/metrics')).to.match(/status="429",error="42900"} 2/);
    await service.stop();
    expect(service.service.stderr).to.match(/"path":"\/hello".*"status":429,"error":42900/);
  });

  it('another HTTP framework, behind the limits of connections', async () => {
    const service = await startWith('node-http/plugin.js');
    expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
    expect(await exchange(service.port, 'garbage\r\n\r\n')).to.include({ outcome: 40000 });
    await service.stop();
  });

  it('a use case of HTTP that declines plants of some clients', async () => {
    const tokens = { ACCESS_TOKENS: 'ali=of-a-gardener,beri=of-a-visitor' };
    const service = await startWith('plugins/http-use-case.js', tokens);
    expect([await service.create('of-a-gardener'), await service.create('of-a-visitor')]).to.deep.equal([200, 40301]);
    expect(await service.get('/openapi.json')).to.include(
      '"403":{"description":"Only gardeners create plants (error 40301)."}',
    );
    const requests = (await service.stop()).filter(({ msg }) => msg === 'request');
    expect(requests[1]).to.include({ subject: 'beri', status: 403, error: 40301 });
  });

  it('a decorator that sees each call of a use case', async () => {
    const service = await startWith('plugins/repository-decorator.js');
    expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
    expect(service.service.stderr.match(/^audit: .*$/gm)).to.deep.equal(['audit: added', 'audit: conflict']);
    await service.stop();
  });

  it('a repository below group commit, bound anew', async () => {
    const rebinding = `
      const read = (repository) => () => repository.readAll();
      const add = (repository) => (plants) => (console.log('batch', plants.length), repository.add(plants));
      export default (container) =>
        container
          .rebind(Symbol.for('plant-store:BatchRepository'))
          .toResolvedValue(
            (storage) => ({ add: add(storage), readAll: read(storage) }),
            [Symbol.for('plant-store:Storage')],
          );`;
    const service = await startWith(rebinding);
    expect(await service.create()).to.equal(200);
    expect(service.service.stdout).to.match(/^batch 1$/m);
    await service.stop();
  });

  it('a log destination that receives every line', async () => {
    const service = await startWith('plugins/log-destination.js');
    expect(await service.create()).to.equal(200);
    const readLog = () => readFileSync(join(service.folder, 'service.log'), 'utf8');
    const lines = await service.stop(readLog);
    const messages = ['started', 'request', 'stopping', 'stopped'];
    expect(lines.map(({ msg }) => msg)).to.deep.equal(messages);
    expect(service.service.stderr).to.equal('');
  });

  it('a metric', async () => {
    const service = await startWith('plugins/metric.js');
    expect(await service.create()).to.equal(200);
    expect(await service.manage('/metrics')).to.match(/^plant_store_garden_beds 3$/m);
    await service.stop();
  });

  it('a readiness check that decides on /readyz', async () => {
    const service = await startWith('plugins/readiness-check.js');
    expect(await service.create()).to.equal(200);
    expect(await service.manage('/readyz')).to.include('"storage":"ok","pump":"unavailable"');
    writeFileSync(join(service.folder, 'pump.pid'), '1');
    expect(await service.manage('/readyz')).to.include('"pump":"ok"');
    await service.stop();
  });
});
