import { cpSync, readFileSync } from 'node:fs';
import { plantRepositoryContract } from '@plant-store/contract';
import { httpContract } from '@plant-store/contract/http';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { TOKEN } from '../support/client.js';
import { postgresEngine, type TestStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { runContract } from '../support/run-contract.js';
import { outputOf, unpackAll } from './interop.js';

const CLI = 'node_modules/plant-store/dist/composition/cli/main.js';

describe('With the packed packages,', () => {
  let folder: string;
  before(() => {
    folder = unpackAll();
    cpSync(inRepository('docs/examples'), folder, { recursive: true });
  });

  const start = (command: readonly string[], settings: Readonly<Record<string, string>> = {}) =>
    new Program(folder, [process.execPath, ...command], settings);
  const settings = { PORT: '0', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'warn' };

  describe('the HTTP API meets the specification, and as many other cases as docs/embed.md states,', () => {
    /** Runs the HTTP contract, its topics at the same time, because most cases wait. */
    async function runHttpContract(example: string, baseUrl: string): Promise<void> {
      const failed: (typeof httpContract)[number][] = [];
      const runAll = async (topic: string) => {
        for (const each of httpContract.filter((other) => other.topic === topic))
          await each.run({ baseUrl, token: TOKEN }).catch(() => failed.push(each));
      };
      await Promise.all([...new Set(httpContract.map(({ topic }) => topic))].map(runAll));
      expect(failed.filter(({ group }) => group === 'specification').map(({ name }) => name)).to.deep.equal([]);
      const guide = readFileSync(inRepository('docs/embed.md'), 'utf8');
      const stated = RegExp(`^\\| \\[[^|]*\\(examples/${example}\\)[^|]*\\| (\\d+) \\|`, 'm').exec(guide)?.[1];
      const all = httpContract.filter(({ group }) => group === 'plant-store').length;
      // Some cases depend on whether a response is sent, or read, before the connection ends.
      expect(all - failed.length, 'cases').to.be.closeTo(Number(stated), 2);
    }

    async function runPlugin(example: string): Promise<void> {
      const service = start([CLI], { ...settings, PLUGINS: `./${example}`, DATABASE_URL: 'memory:' });
      await runHttpContract(example, `http://127.0.0.1:${await service.port()}`);
      expect(await service.stop()).to.equal(0);
    }

    /** The app has a route of its own, with the body parser of its framework. */
    async function runMounted(example: string): Promise<void> {
      const app = start([example.replace('.ts', '.js')], {
        ...settings,
        DATABASE_URL: `sqlite:${example.slice(8)}.db`,
      });
      const origin = `http://127.0.0.1:${await app.port()}`;
      await runHttpContract(example, `${origin}/garden`);
      const headers = { 'Content-Type': 'application/json' };
      const notes = (body: string) => fetch(`${origin}/notes`, { method: 'POST', headers, body });
      expect(await (await notes('{"id":9007199254740993}')).text()).to.equal('{"noted":{"id":9007199254740992}}');
      expect((await notes('{"id":')).status).to.equal(400);
    }

    const MOUNTED = [
      'mounted/express.js',
      'mounted/fastify.js',
      'mounted/hono.js',
      'mounted/koa.js',
      'mounted/nest.ts',
    ];
    const results = new Map<string, Promise<void>>();
    before(() => {
      const options = '--noCheck --experimentalDecorators --module esnext --moduleResolution bundler --target es2023';
      outputOf(folder, ['node', 'node_modules/typescript/bin/tsc', ...options.split(' '), 'mounted/nest.ts']);
      // All apps at the same time, because most of it is waiting for time limits. More would be too slow for the cases.
      for (const example of MOUNTED) results.set(example, runMounted(example));
      void Promise.allSettled(results.values());
    });
    for (const example of MOUNTED) it(`with ${example}`, () => results.get(example));
    for (const example of ['node-http/plugin.js', 'fastify/plugin.js']) it(`with ${example}`, () => runPlugin(example));
  });

  it('the core behind a queue accepts a job that is delivered again', async () => {
    const job = '{"id":9007199254740993,"name":"Monstera"}\n';
    expect((await start(['queue-worker/worker.js']).result(job)).stdout).to.equal('{"job":1,"state":"accepted"}\n');
    const message = 'This exact plant is already stored; no further retry is needed';
    const { stdout } = await start(['queue-worker/worker.js']).result(job);
    expect(JSON.parse(stdout)).to.deep.equal({ job: 1, state: 'accepted', error: 40902, message });
  });

  describe('the service with a custom repository', () => {
    const stores = postgresEngine.stores();
    let store: TestStore;
    before(async () => {
      store = await stores.create();
      await store.run('CREATE TABLE garden (number bigint PRIMARY KEY, label text NOT NULL, kind text)');
    });

    const open = async () => {
      const { GardenRepository } = await import(inRepository('docs/examples/own-repository/garden.js'));
      const { default: pg } = await import('pg' as string);
      await store.run('TRUNCATE garden');
      return new GardenRepository(new pg.Pool({ connectionString: store.url }));
    };
    runContract(plantRepositoryContract({ open }));

    it('imports and exports plants', async () => {
      await store.run('TRUNCATE garden');
      const environment = { DATABASE_URL: store.url.replace(/^\w+/, 'garden'), PLUGINS: './own-repository/garden.js' };
      const line = '{"id":9007199254740993,"name":"Monstera","tag":"indoor"}\n';
      expect((await start([CLI, 'import'], environment).result(line)).exitCode).to.equal(0);
      expect((await start([CLI, 'export'], environment).result()).stdout).to.equal(line);
      const row = { number: '9007199254740993', label: 'Monstera', kind: 'indoor' };
      expect(await store.run('SELECT * FROM garden')).to.have.deep.property('rows', [row]);
    });
  });
});
