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
/** Parts of the responses to the first create of a plant, and to the next ones. */
const [CREATED, STORED] = ['"name":"Monstera"', '"error":40902'];

/** The versions of Node that have `node:sqlite`, each with a version of npm. npm 12 runs no unapproved install script. */
for (const [node, npm, install] of [
  ['22', '11', 'npm install --ignore-scripts'],
  ['24', '12', 'npm install'],
  ['26', '12', 'npm install'],
] as const) {
  describe(`On Node ${node} with npm ${npm}`, () => {
    const folder = temporaryFolder();
    const clone = join(folder, 'clone');
    const PATH = [join(folder, 'tools/node_modules/.bin'), process.env['PATH']].join(delimiter);

    /** Starts a shell command with this Node. */
    const start = (cwd: string, command: string, settings: Readonly<Record<string, string>> = {}) =>
      new Program(cwd, ['sh', '-c', command], { ...ENVIRONMENT, PATH, ...settings });

    /** Runs a shell command with this Node until it exits, and returns its output. */
    async function run(cwd: string, command: string): Promise<string> {
      const { exitCode, stdout, stderr } = await start(cwd, command).result();
      expect(exitCode, stdout.slice(-5000) + stderr.slice(-5000)).to.equal(0);
      return stdout;
    }

    /** Starts a service, and checks its driver and the response to the command that it prints. */
    async function expectService(cwd: string, command: string, driver: string, response: string): Promise<void> {
      const service = start(cwd, command, { PORT: '0', DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` });
      const [, curl = ''] = await service.waitForOutput(/^(curl .*)$/m);
      expect(await run(folder, curl)).to.include(response);
      const [line] = await service.waitForOutput(/^.*"started".*$/m);
      expect(JSON.parse(line))
        .to.include({ driver })
        .and.to.have.property('node')
        .that.matches(RegExp(`^v${node}\\.`));
    }

    before(async () => {
      await run(folder, `npm install --no-audit --no-fund --prefix tools node@${node} npm@${npm}`);
      await run(folder, `git clone --quiet ${inRepository('')} clone`);
    });

    it('npm ci and npm start serve on node:sqlite without optional packages', () =>
      expectService(clone, 'npm ci --omit=optional && exec npm start', 'node:sqlite', CREATED));

    it('npm test passes without optional packages', () => run(clone, 'npm test'));

    it('the faults of SQLite have the same outcomes on node:sqlite', async () => {
      await run(clone, "npm run test:system -- --grep 'SQLite|SIGKILL'");
      await run(clone, 'npm run test:system -- dist/test/composition/cli/commands.test.js');
    });

    it('npm ci and npm start serve on sqlite3, from the file that node:sqlite wrote', () =>
      expectService(clone, 'npm ci && exec npm start', 'sqlite3', STORED));

    it('npm test passes with all packages', () => run(clone, 'npm test'));

    it(`${install} and npx serve a project without install scripts on node:sqlite, from a file that sqlite3 uses too`, async () => {
      const project = join(folder, 'project');
      mkdirSync(project);
      writeFileSync(join(project, 'package.json'), '{}');
      const archive = await run(clone, `npm pack --silent --pack-destination ${project}`);
      rmSync(join(folder, 'plants.db'));
      await expectService(project, `${install} ./${archive.trim()} && exec npx plant-store`, 'node:sqlite', CREATED);
      await expectService(clone, 'exec npm start', 'sqlite3', STORED);
    });
  });
}
