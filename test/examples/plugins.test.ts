import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { type Plugin, readConfig, services, start } from '../../composition/index.js';
import { create } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { exchange } from '../support/raw-http.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const MONSTERA = { id: 1n, name: ' Monstera ' };

/** Starts a service with a plugin of docs/examples. */
async function startWith(example: string, settings: Readonly<Record<string, string>> = {}) {
  const lines: string[] = [];
  const { default: plugin } = await import(inRepository(`docs/examples/${example}`));
  const withLog: Plugin = (container) => {
    container.rebind(services.LogDestination).toConstantValue({ write: (line) => void lines.push(line) });
    return plugin(container);
  };
  const defaults = { PORT: '0', MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: TOKEN };
  const { url, managementUrl, container, stop } = await start(readConfig({ ...defaults, ...settings }), withLog);
  const readText = async (address: string) => (await fetch(address)).text();
  const port = Number(new URL(url).port);
  return {
    container,
    url,
    port,
    get: (path: string) => readText(url + path),
    manage: (path: string) => readText(managementUrl + path),
    /** Creates a plant, and returns the outcome. */
    create: async (token = TOKEN) => (await create(port, MONSTERA, { Authorization: `Bearer ${token}` }))?.outcome,
    /** Expects that nothing is lost: metrics of each part, the log, and a clean stop. Returns the log. */
    stop: async () => {
      const metrics = await readText(`${managementUrl}/metrics`);
      for (const name of ['creates_in_flight', 'http_requests_total', 'plants_total', 'log_lines_dropped_total'])
        expect(metrics).to.include(`# HELP plant_store_${name} `);
      expect(await stop()).to.equal(true);
      return lines.join('');
    },
  };
}

describe('The example of a plugin', () => {
  const folder = temporaryFolder();
  const workingFolder = process.cwd();
  beforeEach(() => process.chdir(folder));
  afterEach(() => process.chdir(workingFolder));

  it('for a storage is selected by its scheme, measured and closed', async () => {
    const service = await startWith('plugins/storage.js', { DATABASE_URL: 'garden:' });
    expect(await service.create()).to.equal(200);
    expect(await service.manage('/metrics')).to.include('plant_store_plants_total{outcome="added"} 1');
    expect(await service.stop()).to.include('"storage":"garden:"');
  });

  it('for a token verifier replaces the tokens of the settings, and reloads its own', async () => {
    writeFileSync('tokens.txt', 'ali\n');
    const service = await startWith('plugins/token-verifier.js', { HOST: '0.0.0.0', ACCESS_TOKENS: '' });
    expect([await service.create('ali'), await service.create('beri')]).to.deep.equal([200, 40102]);
    writeFileSync('tokens.txt', 'beri\n');
    process.emit('SIGHUP');
    await waitUntil('the tokens are reloaded', async () => (await service.create('ali')) === 40102);
    expect(await service.create('beri')).to.equal(40902);
    process.removeAllListeners('SIGHUP');
    await service.stop();
  });

  it('for an HTTP framework keeps the limits of connections and the shutdown', async () => {
    const service = await startWith('node-http/plugin.js');
    expect(await service.create()).to.equal(200);
    expect(await exchange(service.port, 'garbage\r\n\r\n')).to.include({ outcome: 40000 });
    await service.stop();
  });

  it('for a log destination receives every line', async () => {
    const service = await startWith('plugins/log-destination.js');
    expect(await service.create()).to.equal(200);
    expect(await service.stop()).to.equal('');
    const lines = readFileSync('service.log', 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).to.deep.equal(['started', 'request', 'stopped']);
  });

  it('that decorates the repository sees each call', async () => {
    const printed: string[] = [];
    const { log } = console;
    console.log = (line: string) => printed.push(line);
    const service = await startWith('plugins/repository-decorator.js');
    expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
    console.log = log;
    expect(printed).to.deep.equal(['audit: added', 'audit: conflict']);
    await service.stop();
  });

  it('for the use case of HTTP declines plants of some clients', async () => {
    const tokens = { ACCESS_TOKENS: 'ali=of-a-gardener,beri=of-a-visitor' };
    const service = await startWith('plugins/http-use-case.js', tokens);
    expect([await service.create('of-a-gardener'), await service.create('of-a-visitor')]).to.deep.equal([200, 40301]);
    expect(await service.stop()).to.match(/"subject":"beri","status":403,"error":40301/);
  });

  it('for a metric adds it', async () => {
    const service = await startWith('plugins/metric.js');
    expect(await service.manage('/metrics')).to.match(/^plant_store_garden_beds 3$/m);
    await service.stop();
  });

  it('for middlewares limits the rate, adds a header and a route, with the log and the metrics', async () => {
    const service = await startWith('plugins/middleware.js');
    expect(await service.get('/hello')).to.equal('Hello, gardener');
    const created = await create(service.port, MONSTERA);
    expect(created).to.have.nested.include({ outcome: 200, 'headers.x-garden': 'north' });
    const attempts = await Promise.all(Array.from({ length: 600 }, () => fetch(`${service.url}/hello`)));
    const limited = attempts.find(({ status }) => status === 429);
    expect(await limited?.json()).to.deep.equal({ error: 42900, message: 'Too many requests' });
    expect(await service.manage('/metrics')).to.match(/status="429",error="42900"} 2/);
    expect(await service.stop()).to.match(/"path":"\/hello".*"status":429,"error":42900/);
  });

  it('for a readiness check decides on /readyz', async () => {
    const service = await startWith('plugins/readiness-check.js');
    expect(await service.manage('/readyz')).to.include('"storage":"ok","pump":"unavailable"');
    writeFileSync('pump.pid', '1');
    expect(await service.manage('/readyz')).to.include('"pump":"ok"');
    await service.stop();
  });
});
