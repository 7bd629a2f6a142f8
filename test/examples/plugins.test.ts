import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create } from '../support/client.js';
import { type Program, plantStore } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const MONSTERA = { id: 1n, name: ' Monstera ' };

/** Starts the service with a plugin of docs/examples, on default settings but for the ports. */
class PluggedService {
  readonly folder: string = temporaryFolder();
  readonly program: Program;

  constructor(example: string, settings: Readonly<Record<string, string>> = {}) {
    mkdirSync(join(this.folder, 'node_modules'));
    symlinkSync(inRepository(''), join(this.folder, 'node_modules/plant-store'));
    writeFileSync(join(this.folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(this.folder, 'tokens.txt'), 'ali\n');
    copyFileSync(inRepository(`docs/examples/${example}`), join(this.folder, 'plugin.js'));
    this.program = plantStore(this.folder, [], {
      PLUGINS: './plugin.js',
      PORT: '0',
      MANAGEMENT_PORT: '0',
      ...settings,
    });
  }

  /** Creates a plant with the random token that the service prints, or with another one. Returns the outcome. */
  async create(token?: string, plant: typeof MONSTERA = MONSTERA): Promise<number | undefined> {
    const port = await this.program.port();
    const [, random = ''] = token ? [] : await this.program.waitForOutput(/Authorization: Bearer ([\w-]+)/);
    return (await create(port, plant, { Authorization: `Bearer ${token ?? random}` }))?.outcome;
  }

  async get(path: string): Promise<string> {
    return (await fetch(`http://127.0.0.1:${await this.program.port()}${path}`)).text();
  }

  async manage(path: string): Promise<string> {
    return (await fetch(`http://127.0.0.1:${await this.program.managementPort()}${path}`)).text();
  }

  /** Expects that nothing is lost: metrics of each part, the log, and a clean exit. Returns the log. */
  async stop(): Promise<string> {
    const metrics = await this.manage('/metrics');
    for (const name of ['creates_in_flight', 'http_requests_total', 'plants_total', 'log_lines_dropped_total', 'ready'])
      expect(metrics).to.include(`# HELP plant_store_${name} `);
    expect(await this.program.stop()).to.equal(0);
    return this.program.stderr;
  }
}

describe('The example of a plugin', () => {
  let service: PluggedService;
  const start = (example: string, settings = {}) =>
    before(() => {
      service = new PluggedService(example, settings);
    });

  describe('for a storage', () => {
    start('plugins/storage.js', { DATABASE_URL: 'garden:' });
    it('is selected by its scheme, measured and closed', async () => {
      expect(await service.create()).to.equal(200);
      expect(await service.manage('/metrics')).to.include('plant_store_plants_total{outcome="added"} 1');
      expect(await service.stop()).to.include('"storage":"garden:"');
    });
  });

  describe('for a token verifier', () => {
    start('plugins/token-verifier.js', { HOST: '0.0.0.0' });
    it('replaces the tokens of the settings, and reloads its own', async () => {
      expect([await service.create('ali'), await service.create('beri')]).to.deep.equal([200, 40102]);
      writeFileSync(join(service.folder, 'tokens.txt'), 'beri\n');
      service.program.kill('SIGHUP');
      await service.program.waitForOutput(/tokens reloaded/);
      expect([await service.create('ali'), await service.create('beri')]).to.deep.equal([40102, 40902]);
      await service.stop();
      expect(service.program.stdout).not.to.include('Bearer');
    });
  });

  describe('for an HTTP framework', () => {
    start('node-http/plugin.js');
    it('keeps limits, log and metrics', async () => {
      expect(await service.create()).to.equal(200);
      expect(await service.manage('/metrics')).to.match(
        /http_requests_total\{method="POST",route="\/plants",status="200"/,
      );
      expect(await service.stop()).to.match(/"path":"\/plants".*"status":200/);
    });
  });

  describe('for a log destination', () => {
    start('plugins/log-destination.js');
    it('receives every line', async () => {
      expect(await service.create()).to.equal(200);
      expect(await service.stop()).to.equal('');
      const lines = readFileSync(join(service.folder, 'service.log'), 'utf8').trim().split('\n');
      const messages = lines.map((line) => JSON.parse(line).msg);
      expect(messages).to.deep.equal(['started', 'request', 'stopping', 'stopped']);
    });
  });

  describe('that decorates the repository', () => {
    start('plugins/repository-decorator.js');
    it('sees each call', async () => {
      expect([await service.create(), await service.create()]).to.deep.equal([200, 40902]);
      await service.stop();
      expect(service.program.stdout).to.match(/^audit: added\naudit: conflict\n$/m);
    });
  });

  describe('for the use case of HTTP', () => {
    start('plugins/http-use-case.js', { ACCESS_TOKENS: 'of-a-gardener,of-a-visitor' });
    it('declines plants of some clients', async () => {
      expect([await service.create('of-a-gardener'), await service.create('of-a-visitor')]).to.deep.equal([200, 40301]);
      expect(await service.stop()).to.match(/"subject":"static-token-2","status":403,"error":40301/);
    });
  });

  describe('for a metric', () => {
    start('plugins/metric.js');
    it('adds it', async () => {
      expect(await service.manage('/metrics')).to.match(/^plant_store_garden_beds 3$/m);
      await service.stop();
    });
  });

  describe('for a route', () => {
    start('plugins/route.js');
    it('adds it to the log and the metrics', async () => {
      expect(await service.get('/hello')).to.equal('Hello, gardener');
      expect(await service.manage('/metrics')).to.include('method="GET",route="/hello",status="200"');
      expect(await service.stop()).to.include('"path":"/hello"');
    });
  });

  describe('for a readiness check', () => {
    start('plugins/readiness-check.js');
    it('decides on /readyz', async () => {
      expect(await service.manage('/readyz')).to.include('"storage":"ok","pump":"unavailable"');
      writeFileSync(join(service.folder, 'pump.pid'), '1');
      await waitUntil('the pump is ready', async () => (await service.manage('/readyz')).includes('"ready"'));
      await service.stop();
    });
  });
});
