import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CREATE_HEADERS, create, serve, toLines } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const MONSTERA = { id: 1n, name: ' Monstera ' };

describe('The executable, with plugins that add or replace', () => {
  const parent = temporaryFolder();

  /** Starts a service with plugins of docs/examples/plugins, in a folder with files of its own. */
  async function startWith(plugins: readonly string[], settings = {}, files: Readonly<Record<string, string>> = {}) {
    const folder = mkdtempSync(join(parent, 'plugin-'));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const toPath = (name: string) => (name in files ? `./${name}` : inRepository(`docs/examples/plugins/${name}`));
    const PLUGINS = plugins.map(toPath).join();
    const service = serve(folder, { PLUGINS, MANAGEMENT_PORT: '0', ...settings });
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    const url = `http://127.0.0.1:${port}`;
    const manage = async (path: string) => (await fetch(`http://127.0.0.1:${managementPort}${path}`)).text();
    return {
      ...{ folder, service, port, url, manage },
      /** Creates a plant, and returns the outcome. */
      create: async (token = TOKEN) => (await create(port, MONSTERA, { Authorization: `Bearer ${token}` }))?.outcome,
      /** Sends a GET with a valid token by default; returns the body, or the number of the error. */
      async get(path: string, token = TOKEN) {
        const response = await fetch(url + path, { headers: { Authorization: `Bearer ${token}` } });
        const text = await response.text();
        return response.ok ? text : JSON.parse(text).error;
      },
      /** Stops the service, which loses no metric, line of the log or clean stop. Returns the lines. */
      async stop(readLog = () => service.stderr) {
        expect(await manage('/metrics')).to.match(/^plant_store_plants_total\{outcome="added"\} 1$/m);
        expect(await service.stop()).to.equal(0);
        const lines = toLines(readLog()).filter((line) => line.startsWith('{'));
        expect(JSON.parse(lines.at(-1) ?? '')).to.include({ msg: 'stopped', closed: true });
        return lines.map((line) => JSON.parse(line));
      },
    };
  }

  it('a storage that its scheme selects', async () => {
    const service = await startWith(['storage.js'], { DATABASE_URL: 'garden:' });
    expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
    expect(await service.manage('/readyz')).to.include('"storage":"ok"');
    expect((await service.stop())[0]).to.include({ msg: 'started', storage: 'garden' });
  });

  it('a token verifier, which replaces the random token, and reloads its own', async () => {
    const service = await startWith(['token-verifier.js'], { ACCESS_TOKENS: '' }, { 'tokens.txt': 'ali\n' });
    expect([await service.create('ali'), await service.create('beri')]).to.deep.equal([200, 40102]);
    writeFileSync(join(service.folder, 'tokens.txt'), 'beri\n');
    service.service.kill('SIGHUP');
    await waitUntil('the tokens are reloaded', async () => (await service.create('ali')) === 40102);
    expect(await service.create('beri')).to.equal(40902);
    await service.stop();
    expect(service.service.stdout).not.to.include('random token');
  });

  it('middlewares that limit the rate, add a header and a route, which the log and the metrics include', async () => {
    const { port, url, get, manage, stop } = await startWith(['middleware.js']);
    expect(await get('/hello')).to.equal('Hello, gardener');
    expect(await create(port, MONSTERA)).to.have.nested.include({ outcome: 200, 'headers.x-garden': 'north' });
    const attempts = await Promise.all(Array.from({ length: 600 }, () => fetch(`${url}/hello`)));
    const limited = attempts.find(({ status }) => status === 429);
    expect(await limited?.json()).to.deep.equal({ error: 42900, message: 'Too many requests' });
    expect(await manage('/metrics')).to.match(/status="429",error="42900"} 2/);
    const isLimited = ({ path, status, error }: Record<string, unknown>) =>
      path === '/hello' && status === 429 && error === 42900;
    expect((await stop()).filter(isLimited)).to.have.lengthOf(2);
  });

  it('a query, whose failure is a 503', async () => {
    const { folder, create, get, stop } = await startWith(['tags.js']);
    expect(await create()).to.equal(200);
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    await file.exec(`INSERT INTO plants (id, name, tag)
      VALUES (2, 'Ficus', 'outdoor'), (3, 'Palm', 'indoor'), (4, 'Fern', 'indoor')`);
    expect(await get('/tags')).to.equal('["indoor","outdoor"]');
    await file.exec('ALTER TABLE plants RENAME TO trees');
    expect(await get('/tags')).to.equal(50301);
    await file.close();
    const failure = (await stop()).find(({ msg }) => msg === 'request failed');
    expect(failure).to.have.nested.property('err.message', 'the storage is unavailable (SQLITE_ERROR)');
  });

  it('routes for authenticated clients, which the limits, the log, the metrics and the description include', async () => {
    const { folder, url, create, get, manage, stop } = await startWith(['read-plants.js']);
    const [first, last] = ['{"id":1,"name":" Monstera "}', '{"id":9223372036854775807,"name":"Ficus","tag":"indoor"}'];
    expect(await create()).to.equal(200);
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    await file.exec("INSERT INTO plants (id, name, tag) VALUES (9223372036854775807, 'Ficus', 'indoor')");
    for (const [path, expected] of [
      ['/plants/9223372036854775807', '{"name":"Ficus","tag":"indoor"}'],
      ['/plants', `[${first},${last}]`],
      ['/plants?limit=1', `[${first}]`],
      ['/plants?after=1', `[${last}]`],
      ['/plants?after=9223372036854775807', '[]'],
      ...['2', '-0x1', '9223372036854775808', '%00'].map((id) => [`/plants/${id}`, 40402] as const),
      ...['after=', 'after=x', 'limit=', 'limit=0', 'limit=101', 'limit=1&limit=2', 'after=1&after=2'].map(
        (query) => [`/plants?${query}`, 40004] as const,
      ),
      ['/plants/1/leaves', 40401],
    ] as const)
      expect(await get(path), path).to.equal(expected);
    for (const path of ['/plants/1', '/plants?limit=x']) expect(await get(path, 'another-token'), path).to.equal(40102);
    const { headers } = await fetch(`${url}/plants?limit=1`, { headers: CREATE_HEADERS });
    expect(headers.get('Link')).to.equal('<?after=1&limit=1>; rel="next"');
    expect((await fetch(`${url}/plants`, { method: 'DELETE' })).headers.get('Allow')).to.equal('GET, HEAD, POST');
    const { paths } = JSON.parse(await get('/openapi.json'));
    expect(Object.keys(paths['/plants/{plantId}'].get.responses)).to.include.members(['200', '404', '503']);
    const count = 'plant_store_http_requests_total{method="GET",route="/plants/:plantId",status="404",error="40402"} 4';
    expect(await manage('/metrics')).to.include(count);
    await file.exec('ALTER TABLE plants RENAME TO trees');
    await file.close();
    expect([await get('/plants/1'), await get('/plants')]).to.deep.equal([50301, 50301]);
    const logged = (await stop()).find(({ path }) => path === '/plants/-0x1');
    expect(logged).to.include({ status: 404, error: 40402 }).and.to.have.property('subject');
  });

  it('a limit of reads at once', async () => {
    const held = `
      export default (container) => {
        process.setMaxListeners(0);
        const read = () => new Promise((resolve) => process.once('SIGUSR2', () => resolve([])));
        container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) => Object.assign(storage, { read }));
      };`;
    const { service, create, get, stop } = await startWith(['read-plants.js', 'held.mjs'], {}, { 'held.mjs': held });
    const reads = Array.from({ length: 11 }, () => get('/plants'));
    expect(await Promise.race(reads)).to.equal(50302);
    expect(await create()).to.equal(200);
    service.kill('SIGUSR2');
    expect((await Promise.all(reads)).filter((body) => body === '[]')).to.have.lengthOf(10);
    await stop();
  });

  it('a use case of HTTP that declines plants of some clients', async () => {
    const tokens = { ACCESS_TOKENS: 'ali=of-a-gardener,beri=of-a-visitor' };
    const { create, get, stop } = await startWith(['http-use-case.js'], tokens);
    expect([await create('of-a-gardener'), await create('of-a-visitor')]).to.deep.equal([200, 40301]);
    const description = '"403":{"description":"Only gardeners create plants (error 40301)."}';
    expect(await get('/openapi.json')).to.include(description);
    const requests = (await stop()).filter(({ path }) => path === '/plants');
    expect(requests[1]).to.include({ subject: 'beri', status: 403, error: 40301 });
  });

  it('several parts: two writers, a severity, a metric and a readiness check', async () => {
    const watch = `
      const watch = (writer) => ({ add: (plants) => (console.log('batch', plants.length), writer.add(plants)) });
      export default (container) =>
        container.onActivation(Symbol.for('plant-store:BatchWriter'), (_, writer) => watch(writer));`;
    const plugins = ['writer-decorator.js', 'watch.mjs', 'severity.js', 'metric.js', 'readiness-check.js'];
    const { folder, service, create, manage, stop } = await startWith(plugins, {}, { 'watch.mjs': watch });
    expect([await create(), await create()]).to.deep.equal([200, 40902]);
    expect(service.stderr.match(/^audit: .*$/gm)).to.deep.equal(['audit: added', 'audit: conflict']);
    expect(service.stdout.match(/^batch 1$/gm)).to.have.lengthOf(2);
    expect(await manage('/metrics')).to.match(/^garden_beds 3$/m);
    expect(await manage('/readyz')).to.include('"storage":"ok","pump":"unavailable"');
    writeFileSync(join(folder, 'pump.pid'), '1');
    expect(await manage('/readyz')).to.include('"pump":"ok"');
    for (const line of await stop()) expect(line).to.have.property('severity', line.level);
  });

  it('a log destination that receives every line', async () => {
    const { folder, service, create, stop } = await startWith(['log-destination.js']);
    expect(await create()).to.equal(200);
    const lines = await stop(() => readFileSync(join(folder, 'service.log'), 'utf8'));
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['started', 'request', 'stopping', 'stopped']);
    expect(service.stderr).to.equal('');
  });
});
