import { cpSync, readFileSync } from 'node:fs';
import { plantRepositoryContract } from '@plant-store/contract';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { runContract } from '../support/run-contract.js';
import { TOKEN } from '../support/service.js';
import { expectStatedCases } from './http-contract.js';
import { installPackages } from './interop.js';

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

  for (const [title, example] of [
    ['the service with node:http meets the cases that docs/embed.md states', 'node-http/plugin.js'],
    ['the service with Fastify meets the cases that docs/embed.md states', 'fastify/plugin.js'],
  ] as const) {
    it(title, async () => {
      const service = start('.', CLI, { ...SETTINGS, PLUGINS: `./${example}`, DATABASE_URL: 'memory:' });
      await expectStatedCases(example, { baseUrl: `http://127.0.0.1:${await service.port()}`, token: TOKEN });
      expect(await service.stop()).to.equal(0);
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
