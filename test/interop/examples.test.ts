import { cpSync, readFileSync } from 'node:fs';
import { plantRepositoryContract } from '@plant-store/contract';
import { httpContract } from '@plant-store/contract/http';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { runContract } from '../support/run-contract.js';
import { TOKEN } from '../support/service.js';
import { findFailedCases } from './http-contract.js';
import { installPackages, outputOf } from './interop.js';

const SETTINGS = { PORT: '0', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'warn' };
const CLI = 'node_modules/plant-store/dist/composition/cli/main.js';

describe('With the packed packages,', () => {
  let folder: string;
  before(() => {
    folder = installPackages();
  });

  /** Copies an example, and runs one of its files, or the executable. */
  function start(example: string, file: string, environment: Readonly<Record<string, string>>, ...args: string[]) {
    cpSync(inRepository(`docs/examples/${example}`), folder, { recursive: true });
    return new Program(folder, [process.execPath, file, ...args], environment);
  }

  const compile = (file: string) => {
    const options = '--noCheck --experimentalDecorators --module esnext --moduleResolution bundler --target es2023';
    outputOf(folder, [process.execPath, 'node_modules/typescript/bin/tsc', ...options.split(' '), file]);
  };

  const targetOf = async (service: Program, path = '') => {
    return { baseUrl: `http://127.0.0.1:${await service.port()}${path}`, token: TOKEN };
  };

  for (const [title, example, main] of [
    ['the service with node:http meets the cases that docs/embed.md states', 'node-http/plugin.js', CLI],
    ['the service with Fastify meets the cases that docs/embed.md states', 'fastify/plugin.js', CLI],
    ['an Express app meets the cases that docs/embed.md states', 'mounted/express.js', 'mounted/express.js'],
    ['a Fastify app meets the cases that docs/embed.md states', 'mounted/fastify.js', 'mounted/fastify.js'],
    ['a Hono app meets the cases that docs/embed.md states', 'mounted/hono.js', 'mounted/hono.js'],
    ['a Koa app meets the cases that docs/embed.md states', 'mounted/koa.js', 'mounted/koa.js'],
    ['a Nest app meets the cases that docs/embed.md states', 'mounted/nest.ts', 'mounted/nest.js'],
  ] as const) {
    it(title, async () => {
      cpSync(inRepository('docs/examples'), folder, { recursive: true });
      if (example.endsWith('.ts')) compile(example);
      const isPlugin = main === CLI;
      const settings = isPlugin
        ? { PLUGINS: `./${example}`, DATABASE_URL: 'memory:' }
        : { DATABASE_URL: 'sqlite:mounted.db' };
      const app = new Program(folder, [process.execPath, main], { ...SETTINGS, ...settings });
      const target = await targetOf(app, isPlugin ? '' : '/garden');
      const failed = await findFailedCases(target);
      expect(failed.filter(({ group }) => group === 'specification').map(({ name }) => name)).to.deep.equal([]);
      const guide = readFileSync(inRepository('docs/embed.md'), 'utf8');
      const row =
        guide.split('\n').find((line) => line.startsWith('| ') && line.includes(`(examples/${example})`)) ?? '';
      const [, lines, met, ownTopics = ''] = row.split(' | ');
      const [below = ''] = /miss some of:[^.]*/.exec(guide) ?? [];
      const topics = ownTopics.replace('those below', below.replaceAll('\n', ' '));
      const files = [...row.matchAll(/\((examples\/\S+)\)/g)].map(([, file]) => inRepository(`docs/${file}`));
      const code = files.map((file) => readFileSync(file, 'utf8')).join('');
      expect(lines, 'lines').to.equal(`${code.split('\n').length - 1}`);
      const all = httpContract.filter(({ group }) => group === 'plant-store').length;
      // Some cases depend on whether a response is sent, or read, before the connection ends.
      expect(all - failed.length, 'cases').to.be.closeTo(Number(met), 2);
      for (const { topic, name } of failed) expect(topics, name).to.include(topic);
      if (isPlugin) {
        expect(await app.stop()).to.equal(0);
        return;
      }
      // Routes of the outer app stay as they are.
      const headers = { 'Content-Type': 'application/json' };
      const notes = (body: string) => fetch(new URL('/notes', target.baseUrl), { method: 'POST', headers, body });
      expect(await (await notes('{"id":9007199254740993}')).text()).to.equal('{"noted":{"id":9007199254740992}}');
      expect((await notes('{"id":')).status).to.equal(400);
    });
  }

  it('the core behind a queue does what its first comment shows', async () => {
    const code = readFileSync(inRepository('docs/examples/queue-worker/worker.js'), 'utf8');
    const commands = [...code.matchAll(/^\/\/ \$ echo '(.*)' \| node worker\.js\n\/\/ (.*\n)/gm)];
    expect(commands).to.have.lengthOf(2);
    for (const [, job, output] of commands)
      expect((await start('queue-worker', 'worker.js', {}).result(`${job}\n`)).stdout).to.equal(output);
  });

  describe('the service with a custom repository', () => {
    const databases = databasesOn(postgresServer);
    let garden: ReturnType<typeof databases.connect>;
    let url: string;
    before(async () => {
      url = await databases.create();
      garden = databases.connect(url);
      await garden.raw('CREATE TABLE garden (number bigint PRIMARY KEY, label text NOT NULL, kind text)');
    });

    const open = async () => {
      const { GardenRepository } = await import(inRepository('docs/examples/own-repository/garden.js'));
      const { default: pg } = await import('pg' as string);
      await garden.raw('TRUNCATE garden');
      return new GardenRepository(new pg.Pool({ connectionString: url }));
    };
    runContract(plantRepositoryContract({ open }));

    it('imports and exports plants', async () => {
      await garden.raw('TRUNCATE garden');
      const environment = { DATABASE_URL: url.replace(/^\w+/, 'garden'), PLUGINS: './garden.js' };
      const line = '{"id":9007199254740993,"name":"Monstera","tag":"indoor"}\n';
      expect((await start('own-repository', CLI, environment, 'import').result(line)).exitCode).to.equal(0);
      expect((await start('own-repository', CLI, environment, 'export').result()).stdout).to.equal(line);
      const { rows } = await garden.raw('SELECT * FROM garden');
      expect(rows).to.deep.equal([{ number: '9007199254740993', label: 'Monstera', kind: 'indoor' }]);
    });
  });
});
