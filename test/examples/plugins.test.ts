import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqlite } from '@plant-store/adapters/knex';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CREATE_HEADERS, create, serve, toLines } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { exchange } from '../support/raw-http.js';
import { TOKEN } from '../support/service.js';
import { SqliteFile } from '../support/sqlite-file.js';
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
    expect((await service.stop())[0]).to.include({ msg: 'started', storage: 'garden' });
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

  it('a token verifier that replaces the random token', async () => {
    const service = await startWith('plugins/token-verifier.js', { ACCESS_TOKENS: '' }, { 'tokens.txt': 'ali\n' });
    expect(await service.create('ali')).to.equal(200);
    await service.stop();
    expect(service.service.stdout).not.to.include('random token');
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

  it('a query of its own, whose failure is a 503', async () => {
    const { folder, port, create, stop } = await startWith('plugins/tags.js');
    expect(await create()).to.equal(200);
    const read = async () => (await fetch(`http://127.0.0.1:${port}/tags`, { headers: CREATE_HEADERS })).json();
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    await file.exec(
      "INSERT INTO plants (id, name, tag) VALUES (2, 'Ficus', 'outdoor'), (3, 'Palm', 'indoor'), (4, 'Fern', 'indoor')",
    );
    expect(await read()).to.deep.equal(['indoor', 'outdoor']);
    await file.exec('ALTER TABLE plants RENAME TO trees');
    expect(await read()).to.include({ error: 50301 });
    await file.close();
    const failure = (await stop()).find(({ msg }) => msg === 'request failed');
    expect(failure).to.have.nested.property('err.message', 'the storage is unavailable (SQLITE_ERROR)');
  });

  it('routes for authenticated clients, which the limits, the log, the metrics and the description include', async () => {
    const service = await startWith('plugins/read-plants.js', { BASE_PATH: '/garden' });
    const url = `http://127.0.0.1:${service.port}/garden`;
    const read = async (path: string, token = TOKEN) => {
      const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
      const text = await response.text();
      return response.ok ? text : JSON.parse(text).error;
    };
    const [small, large] = [9_007_199_254_740_993n, 2n ** 63n - 1n];
    const [first, second] = [`{"id":${small},"name":" Monstera "}`, `{"id":${large},"name":"Ficus","tag":"indoor"}`];
    for (const body of [second, first])
      expect(await fetch(`${url}/plants`, { method: 'POST', headers: CREATE_HEADERS, body })).to.include({
        status: 200,
      });
    expect(await read(`/plants/${small}`)).to.equal('{"name":" Monstera "}');
    expect(await read('/plants')).to.equal(`[${first},${second}]`);
    expect(await read('/plants?limit=1')).to.equal(`[${first}]`);
    expect(await read(`/plants?after=${small}`)).to.equal(`[${second}]`);
    expect(await read(`/plants?after=${large}`)).to.equal('[]');
    for (const id of [small - 1n, '-0x1', '9223372036854775808', '99999999999999999999', '%00'])
      expect(await read(`/plants/${id}`), `${id}`).to.equal(40402);
    for (const query of ['after=', 'after=x', 'limit=', 'limit=0', 'limit=101', 'limit=1&limit=2', 'after=1&after=2'])
      expect(await read(`/plants?${query}`), query).to.equal(40004);
    for (const path of ['/plants/1', '/plants', '/plants?limit=x']) {
      expect(await read(path, 'another-token')).to.equal(40102);
      expect(await fetch(url + path)).to.include({ status: 401 });
    }
    expect(await read('/plants/1/leaves')).to.equal(40401);
    const link = (await fetch(`${url}/plants?limit=1`, { headers: CREATE_HEADERS })).headers.get('Link');
    expect(link).to.equal(`<?after=${small}&limit=1>; rel="next"`);
    for (const [path, allowed] of [
      ['/plants', 'GET, HEAD, POST'],
      ['/plants/1', 'GET, HEAD'],
    ] as const) {
      const { headers, status } = await fetch(url + path, { method: 'DELETE' });
      expect([status, headers.get('Allow')]).to.deep.equal([405, allowed]);
    }
    const { paths } = JSON.parse(await read('/openapi.json'));
    expect(Object.keys(paths['/plants/{plantId}'].get.responses)).to.include.members(['200', '404', '503']);
    const metrics = await service.manage('/metrics');
    const count = 'plant_store_http_requests_total{method="GET",route="/garden/plants/:plantId",';
    expect(metrics).to.include(`${count}status="404",error="40402"} 5`);
    expect(metrics).to.include(`${count}status="401",error="40102"} 1`);
    expect(metrics).to.match(/^plant_store_client_requests_in_flight 0$/m);
    const database = await openSqlite({ path: join(service.folder, 'plants.db'), readOnly: true });
    await database.knex.schema.renameTable('plants', 'lost');
    await database.close();
    expect([await read('/plants/1'), await read('/plants')]).to.deep.equal([50301, 50301]);
    expect(await service.service.stop()).to.equal(0);
    expect(service.service.stderr).to.match(
      /"path":"\/garden\/plants\/-0x1","subject":".*","status":404,"error":40402/,
    );
  });

  it('a limit of reads at once, of its own', async () => {
    const held = `
      import readPlants from '${inRepository('docs/examples/plugins/read-plants.js')}';
      const read = () => new Promise((resolve) => process.once('SIGUSR2', () => resolve([])));
      export default (container) => {
        process.setMaxListeners(0);
        readPlants(container);
        container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) => Object.assign(storage, { read }));
      };`;
    const service = await startWith(held);
    const reads = Array.from({ length: 11 }, async () => {
      const response = await fetch(`http://127.0.0.1:${service.port}/plants`, { headers: CREATE_HEADERS });
      return [response.status, await response.text()];
    });
    const busy = '{"error":50302,"message":"Too many requests in flight; retry later"}';
    expect(await Promise.race(reads)).to.deep.equal([503, busy]);
    expect(await service.create()).to.equal(200);
    service.service.kill('SIGUSR2');
    expect((await Promise.all(reads)).filter(([, body]) => body === '[]')).to.have.lengthOf(10);
    await service.stop();
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
    const service = await startWith('plugins/writer-decorator.js');
    expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
    expect(service.service.stderr.match(/^audit: .*$/gm)).to.deep.equal(['audit: added', 'audit: conflict']);
    await service.stop();
  });

  it('a writer below group commit, which sees the batches', async () => {
    const watching = `
      const watch = (writer) => ({ add: (plants) => (console.log('batch', plants.length), writer.add(plants)) });
      export default (container) =>
        container.onActivation(Symbol.for('plant-store:BatchWriter'), (_, writer) => watch(writer));`;
    const service = await startWith(watching);
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

  it('the level of log lines as their severity, too', async () => {
    const service = await startWith('plugins/severity.js');
    expect(await service.create()).to.equal(200);
    for (const line of await service.stop()) expect(line).to.include({ level: 'info', severity: 'info' });
  });

  it('a metric', async () => {
    const service = await startWith('plugins/metric.js');
    expect(await service.create()).to.equal(200);
    expect(await service.manage('/metrics')).to.match(/^garden_beds 3$/m);
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
