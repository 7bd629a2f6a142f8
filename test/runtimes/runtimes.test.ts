import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** The environment, which may configure npm, without settings of these tests. */
const ENVIRONMENT: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(process.env).flatMap(([name, value = '']) => (name.startsWith('TEST_') ? [] : [[name, value]])),
);

/** The versions of Node that have `node:sqlite`, each with a version of npm. */
const RUNTIMES = [
  ['22', '11'],
  ['24', '12'],
  ['26', '12'],
] as const;

/** Parts of the responses to the first create of a plant, and to the next ones. */
const [CREATED, STORED] = ['"name":"Monstera"', '"error":40902'];

for (const [node, npm] of RUNTIMES) {
  describe(`On Node ${node} with npm ${npm}`, () => {
    const folder = temporaryFolder();
    const clone = join(folder, 'clone');
    let PATH: string;

    /** Runs a shell command with this Node until it exits, and returns its output. */
    async function run(cwd: string, command: string): Promise<string> {
      const program = new Program(cwd, ['sh', '-c', command], { ...ENVIRONMENT, PATH });
      expect(await program.exited(), program.stdout.slice(-5000) + program.stderr.slice(-5000)).to.equal(0);
      return program.stdout;
    }

    before(async () => {
      PATH = process.env['PATH'] ?? '';
      await run(folder, `npm install --no-audit --no-fund --prefix tools node@${node} npm@${npm}`);
      PATH = [join(folder, 'tools/node_modules/.bin'), PATH].join(delimiter);
      expect(await run(folder, 'node --version && npm --version')).to.match(RegExp(`^v${node}\\..*\n${npm}\\.`));
      await run(folder, `git clone --quiet ${inRepository('')} clone`);
    });

    /** Starts a service, and checks its driver and the response to the command that it prints. */
    async function expectService(cwd: string, command: string, driver: string, response: string): Promise<Program> {
      const settings = { ...ENVIRONMENT, PATH, PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` };
      const service = new Program(cwd, ['sh', '-c', command], settings);
      const [, curl = ''] = await service.waitForOutput(/^(curl .*)$/m);
      expect(await run(folder, curl)).to.include(response);
      const [line] = await service.waitForOutput(/^.*"started".*$/m);
      expect(JSON.parse(line)).to.include({ driver, node: (await run(folder, 'node --version')).trim() });
      return service;
    }

    describe('in a clone without optional packages', () => {
      it('npm ci and npm start serve on node:sqlite', () =>
        expectService(clone, 'npm ci --omit=optional && exec npm start', 'node:sqlite', CREATED));

      it('npm test passes', () => run(clone, 'npm test'));

      it('the faults of SQLite have the same outcomes', () =>
        run(
          clone,
          "npm run test:system -- --grep 'SQLite|SIGKILL' && npm run test:system -- dist/test/composition/cli/commands.test.js",
        ));
    });

    describe('in a clone with all packages', () => {
      it('npm ci and npm start serve on sqlite3, from the file that node:sqlite wrote', () =>
        expectService(clone, 'npm ci && exec npm start', 'sqlite3', STORED));

      it('npm test passes', () => run(clone, 'npm test'));
    });

    describe('in a project that approves no install script', () => {
      const project = join(folder, 'project');
      // npm 12 runs none unless the project approves it.
      const install = npm === '11' ? 'npm install --ignore-scripts' : 'npm install';

      it(`${install} and npx serve on node:sqlite, from a file that sqlite3 uses too`, async () => {
        mkdirSync(project);
        writeFileSync(join(project, 'package.json'), '{}');
        const [archive = ''] = (await run(clone, `npm pack --silent --pack-destination ${project}`)).split('\n');
        rmSync(join(folder, 'plants.db'));
        await expectService(project, `${install} ./${archive} && exec npx plant-store`, 'node:sqlite', CREATED);
        await expectService(clone, 'exec npm start', 'sqlite3', STORED);
      });
    });
  });
}
