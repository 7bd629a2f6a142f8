import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { type Plugin, readConfig, type Service, services, start } from '../../composition/index.js';
import { create } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

const MONSTERA = { id: 1n, name: ' Monstera ' };

/** A service with a plugin of docs/examples. */
class PluggedService {
  readonly #service: Service;
  readonly #lines: string[];

  private constructor(service: Service, lines: string[]) {
    this.#service = service;
    this.#lines = lines;
  }

  static async start(example: string, settings: Readonly<Record<string, string>> = {}): Promise<PluggedService> {
    const lines: string[] = [];
    const { default: plugin } = await import(inRepository(`docs/examples/${example}`));
    const withLog: Plugin = async (container) => {
      container.rebind(services.LogDestination).toConstantValue({ write: (line) => void lines.push(line) });
      await plugin(container);
    };
    const defaults = { PORT: '0', MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: TOKEN };
    return new PluggedService(await start(readConfig({ ...defaults, ...settings }), withLog), lines);
  }

  /** Creates a plant, and returns the outcome. */
  async create(token = TOKEN): Promise<number | undefined> {
    const port = Number(new URL(this.#service.url).port);
    return (await create(port, MONSTERA, { Authorization: `Bearer ${token}` }))?.outcome;
  }

  async get(path: string): Promise<string> {
    return (await fetch(`${this.#service.url}${path}`)).text();
  }

  async manage(path: string): Promise<string> {
    return (await fetch(`${this.#service.managementUrl}${path}`)).text();
  }

  reloadTokens(): Promise<void> {
    return this.#service.container.get(services.TokenReload).reload();
  }

  /** Expects that nothing is lost: metrics of each part, the log, and a clean stop. Returns the log. */
  async stop(): Promise<string> {
    const metrics = await this.manage('/metrics');
    for (const name of ['creates_in_flight', 'http_requests_total', 'plants_total', 'log_lines_dropped_total', 'ready'])
      expect(metrics).to.include(`# HELP plant_store_${name} `);
    expect(await this.#service.stop()).to.equal(true);
    return this.#lines.join('');
  }
}

describe('The example of a plugin', () => {
  const folder = temporaryFolder();
  const workingFolder = process.cwd();
  beforeEach(() => process.chdir(folder));
  afterEach(() => process.chdir(workingFolder));

  it('for a storage is selected by its scheme, measured and closed', async () => {
    const service = await PluggedService.start('plugins/storage.js', { DATABASE_URL: 'garden:' });
    expect(await service.create()).to.equal(200);
    expect(await service.manage('/metrics')).to.include('plant_store_plants_total{outcome="added"} 1');
    expect(await service.stop()).to.include('"storage":"garden:"');
  });

  it('for a token verifier replaces the tokens of the settings, and reloads its own', async () => {
    writeFileSync('tokens.txt', 'ali\n');
    const service = await PluggedService.start('plugins/token-verifier.js', { HOST: '0.0.0.0', ACCESS_TOKENS: '' });
    expect([await service.create('ali'), await service.create('beri')]).to.deep.equal([200, 40102]);
    writeFileSync('tokens.txt', 'beri\n');
    await service.reloadTokens();
    expect([await service.create('ali'), await service.create('beri')]).to.deep.equal([40102, 40902]);
    expect(await service.stop()).to.include('tokens reloaded');
  });

  it('for an HTTP framework keeps limits, log and metrics', async () => {
    const service = await PluggedService.start('node-http/plugin.js');
    expect(await service.create()).to.equal(200);
    expect(await service.manage('/metrics')).to.match(
      /http_requests_total\{method="POST",route="\/plants",status="200"/,
    );
    expect(await service.stop()).to.match(/"path":"\/plants".*"status":200/);
  });

  it('for a log destination receives every line', async () => {
    const service = await PluggedService.start('plugins/log-destination.js');
    expect(await service.create()).to.equal(200);
    expect(await service.stop()).to.equal('');
    const lines = readFileSync('service.log', 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).msg)).to.deep.equal(['started', 'request', 'stopped']);
  });

  it('that decorates the repository sees each call', async () => {
    const printed: string[] = [];
    const { log } = console;
    console.log = (line: string) => printed.push(line);
    const service = await PluggedService.start('plugins/repository-decorator.js');
    expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
    console.log = log;
    expect(printed).to.deep.equal(['audit: added', 'audit: conflict']);
    await service.stop();
  });

  it('for the use case of HTTP declines plants of some clients', async () => {
    const tokens = { ACCESS_TOKENS: 'of-a-gardener,of-a-visitor' };
    const service = await PluggedService.start('plugins/http-use-case.js', tokens);
    expect([await service.create('of-a-gardener'), await service.create('of-a-visitor')]).to.deep.equal([200, 40301]);
    expect(await service.stop()).to.match(/"subject":"static-token-2","status":403,"error":40301/);
  });

  it('for a metric adds it', async () => {
    const service = await PluggedService.start('plugins/metric.js');
    expect(await service.manage('/metrics')).to.match(/^plant_store_garden_beds 3$/m);
    await service.stop();
  });

  it('for a route adds it to the log and the metrics', async () => {
    const service = await PluggedService.start('plugins/route.js');
    expect(await service.get('/hello')).to.equal('Hello, gardener');
    expect(await service.manage('/metrics')).to.include('method="GET",route="/hello",status="200"');
    expect(await service.stop()).to.include('"path":"/hello"');
  });

  it('for a readiness check decides on /readyz', async () => {
    const service = await PluggedService.start('plugins/readiness-check.js');
    expect(await service.manage('/readyz')).to.include('"storage":"ok","pump":"unavailable"');
    writeFileSync('pump.pid', '1');
    expect(await service.manage('/readyz')).to.include('"pump":"ok"');
    await service.stop();
  });
});
