import { readFileSync, writeFileSync } from 'node:fs';
import { mock } from 'node:test';
import { expect } from 'chai';
import { after, afterEach, before, describe, it } from 'mocha';
import { readConfig, type Service, services, start } from '../../composition/index.js';
import { CREATE_HEADERS, create, exchange, request, TOKEN, toLines } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const MONSTERA = { id: 1n, name: ' Monstera ' };
const SETTINGS = { PORT: '0', MANAGEMENT_PORT: '0', ACCESS_TOKENS: `ali=${TOKEN},beri=visitor` };

describe('The service, with plugins that add or replace', () => {
  const folder = temporaryFolder();
  const workingFolder = process.cwd();
  let service: Service;
  let port: number;
  let log: Readonly<Record<string, unknown>>[];
  before(() => process.chdir(folder));
  after(() => process.chdir(workingFolder));
  afterEach(async () => {
    expect(await service.stop()).to.equal(true);
  });

  /** Starts a service with plugins of docs/examples/plugins. */
  async function startWith(names: readonly string[], DATABASE_URL = 'memory:') {
    log = [];
    service = await start(readConfig({ ...SETTINGS, DATABASE_URL }), async (container, config) => {
      container.rebind(services.LogDestination).toConstantValue({ write: (line) => log.push(JSON.parse(line)) });
      for (const name of names) {
        const plugin = await import(inRepository(`docs/examples/plugins/${name}.js`));
        await plugin.default(container, config);
      }
    });
    port = Number(new URL(service.url).port);
  }

  /** Creates a plant, and returns the outcome. */
  const createWith = async (token: string) =>
    (await create(port, MONSTERA, { Authorization: `Bearer ${token}` }))?.outcome;
  /** Returns the body of a success, or the number of the error. */
  const get = async (path: string, token = TOKEN) => {
    const response = await exchange(port, request(`GET ${path}`, { Authorization: `Bearer ${token}` }));
    return response?.outcome === 200 ? response.body : response?.outcome;
  };
  const manage = async (path: string) => (await fetch(service.managementUrl + path)).text();

  it('a token verifier, which reloads its own tokens', async () => {
    writeFileSync('tokens.txt', 'cari\n');
    await startWith(['token-verifier']);
    expect([await createWith('cari'), await createWith(TOKEN)]).to.deep.equal([200, 40102]);
    writeFileSync('tokens.txt', 'dari\n');
    process.emit('SIGHUP');
    await waitUntil('the tokens are reloaded', async () => (await createWith('cari')) === 40102);
    expect(await createWith('dari')).to.equal(40902);
  });

  it('middlewares that limit the rate, add a header and a route, which the log and the metrics include', async () => {
    await startWith(['middleware']);
    expect(await get('/hello')).to.equal('Hello, gardener');
    expect(await create(port, MONSTERA)).to.have.nested.include({ outcome: 200, 'headers.x-garden': 'north' });
    for (let count = 2; count < 600; count++) await get('/hello');
    const limited = await exchange(port, request('GET /hello'));
    expect(limited?.json()).to.deep.equal({ error: 42900, message: 'Too many requests' });
    expect(log.at(-1)).to.include({ path: '/hello', status: 429, error: 42900 });
    expect(await manage('/metrics')).to.match(/status="429",error="42900"} 1/);
  });

  it('a query, whose failure is a 503', async () => {
    await startWith(['tags'], 'sqlite:tags.db');
    const file = await SqliteFile.open('tags.db');
    await file.exec(`INSERT INTO plants (id, name, tag)
      VALUES (1, 'Fig', NULL), (2, 'Ficus', 'outdoor'), (3, 'Palm', 'indoor'), (4, 'Fern', 'indoor')`);
    expect(await get('/tags')).to.equal('["indoor","outdoor"]');
    await file.exec('ALTER TABLE plants RENAME TO trees');
    await file.close();
    expect(await get('/tags')).to.equal(50301);
  });

  it('routes for authenticated clients, which the metrics and the description include', async () => {
    await startWith(['find-plant', 'read-plants']);
    const [first, last] = ['{"id":1,"name":" Monstera "}', '{"id":9223372036854775807,"name":"Ficus","tag":"indoor"}'];
    await create(port, MONSTERA);
    await create(port, { id: 9223372036854775807n, name: 'Ficus', tag: 'indoor' });
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
    expect(await get('/plants/1', 'another-token')).to.equal(40102);
    const page = await exchange(port, request('GET /plants?limit=1', CREATE_HEADERS));
    expect(page?.headers).to.include({ link: '<?after=1&limit=1>; rel="next"' });
    const { paths } = JSON.parse(`${await get('/openapi.json')}`);
    expect(Object.keys(paths['/plants/{plantId}'].get.responses)).to.include.members(['200', '404', '503']);
    const count = 'plant_store_http_requests_total{method="GET",route="/plants/:plantId",status="404",error="40402"} 4';
    expect(await manage('/metrics')).to.include(count);
  });

  it('a use case of HTTP that declines plants of some clients', async () => {
    await startWith(['http-use-case']);
    expect([await createWith(TOKEN), await createWith('visitor')]).to.deep.equal([200, 40301]);
    expect(log.at(-1)).to.include({ subject: 'beri', status: 403, error: 40301 });
    expect(await get('/openapi.json')).to.include(
      '"403":{"description":"Only gardeners create plants (error 40301)."}',
    );
  });

  it('a storage, a writer, a severity, a metric and a readiness check', async () => {
    const audit = mock.method(console, 'error', () => {});
    await startWith(['storage', 'writer-decorator', 'severity', 'metric', 'readiness-check'], 'garden:');
    expect([await createWith(TOKEN), await createWith(TOKEN)]).to.deep.equal([200, 40902]);
    expect(audit.mock.calls.flatMap((call) => call.arguments)).to.deep.equal(['audit: added', 'audit: conflict']);
    audit.mock.restore();
    const metrics = await manage('/metrics');
    expect(metrics.split('\n')).to.include.members(['garden_beds 3', 'plant_store_plants_total{outcome="added"} 1']);
    expect(await manage('/readyz')).to.include('"storage":"ok","pump":"unavailable"');
    writeFileSync('pump.pid', '1');
    expect(await manage('/readyz')).to.include('"pump":"ok"');
    for (const line of log) expect(line).to.have.property('severity', line['level']);
  });

  it('a log destination that receives every line', async () => {
    await startWith(['log-destination']);
    await create(port, MONSTERA);
    await service.stop();
    const messages = toLines(readFileSync('service.log', 'utf8')).map((line) => JSON.parse(line).msg);
    expect(messages).to.deep.equal(['started', 'request', 'stopped']);
  });
});
