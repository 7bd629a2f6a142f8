import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { settings, version } from '../../../composition/config.js';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { plantLines } from '../../support/plants.js';
import { skipUnless } from '../../support/skip-unless.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { runInProcess } from './in-process.js';

const COMMANDS = ['serve', 'check', 'import', 'export', 'migrate', 'token'];
/** Other hosts can connect, so a credential is required. */
const OTHER_HOSTS = { HOST: '0.0.0.0', DATABASE_URL: 'sqlite:none/plants.db' };

describe('The command', () => {
  const folder = new CommandFolder();
  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') =>
    runInProcess(folder.path, args, environment, input);

  it('line has one help, of at most 60 lines of 80 columns, with every command and setting', async () => {
    const { exitCode, stdout } = await run(['--help']);
    const lines = toLines(stdout);
    expect([exitCode, lines.length <= 60, lines.filter((line) => line.length > 80)]).to.deep.equal([0, true, []]);
    const terms = [...COMMANDS, ...Object.values(settings).map(({ variable }) => variable)];
    expect([...stdout.matchAll(/^ {2}(\w+) {2,}\S/gm)].map(([, term]) => term)).to.deep.equal(terms);
    expect((await run(['import', '-h'])).stdout).to.equal(stdout);
    expect(await run(['-v'])).to.deep.equal({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('line may have flags, which take precedence over variables', async () => {
    const environment = { DATABASE_URL: 'x', DATABASE_URL_FILE: 'x', PORT: 'x' };
    const { stdout } = await run(['check', '--database-url=memory:', '--port', '0'], environment);
    expect(stdout)
      .to.match(/^PORT=0\n/m)
      .and.to.match(/^storage: memory:/m);
  });

  for (const [line, environment, exitCode, problem] of [
    ['--prot=8080', {}, 64, /^Unknown option '--prot'; see plant-store --help$/],
    ['--port', {}, 64, /^Option '--port <value>' argument missing; see/],
    ['water', {}, 64, /^Unknown command 'water'; see/],
    ['serve plants', {}, 64, /^Too many arguments for serve; see/],
    // Every user of the machine can read a command line.
    ['--access-tokens=canary', {}, 64, /^Unknown option '--access-tokens'; see/],
    ['check', { PORT: 'http', DOCS: '1' }, 78, /^PORT: must be .*\nplant-store: DOCS: must be one of on, off$/],
    ['check', { PLUGINS: './none.js' }, 78, /^PLUGINS: \.\/none\.js: Cannot find module .*$/],
    ['serve', { PORT: '3000', MANAGEMENT_PORT: '3000' }, 78, /^PORT and MANAGEMENT_PORT must differ$/],
    ['export', { DATABASE_URL: 'sqlite:none.db?mode=rw' }, 1, /^cannot open sqlite:[^\n]*$/],
    ['export', { DATABASE_URL: 'sqlite:none.db' }, 1, /^there is no store at sqlite:\/.*none\.db; check DATABASE_URL$/],
    ['import none.ndjson', {}, 1, /^ENOENT: no such file or directory, open 'none\.ndjson'$/],
    ['import .', {}, 1, /^EISDIR: illegal operation on a directory, read$/],
  ] as const) {
    it(`line ${line} exits with ${exitCode} and one line per problem for ${JSON.stringify(environment)}`, async () => {
      const result = await run(line.split(' '), { DATABASE_URL: 'memory:', ...environment });
      expect(result.stderr.replace(/^plant-store: |\n$/g, '')).to.match(problem);
      expect(result).to.include({ exitCode, stdout: '' });
      expect(existsSync(join(folder.path, 'none.db'))).to.equal(false);
    });
  }

  it('check prints the settings without secrets, and what serve would do to the storage, and creates nothing', async () => {
    const { DATABASE_URL } = folder.newDatabase();
    const settings = { DATABASE_URL, ACCESS_TOKENS: 'canary', PORT: '0', ACCESS_LOG: '' };
    const before = await run(['check'], settings);
    expect(before).to.include({ exitCode: 0, stderr: '' });
    expect(toLines(before.stdout)).to.include.members([
      ...['PORT=0', 'ACCESS_LOG=on', `DATABASE_URL=${DATABASE_URL}`, 'ACCESS_TOKENS=(not shown)'],
      'not checked: privileges to create plants, and whether the ports are free',
    ]);
    expect(before.stdout).to.match(
      /^storage: sqlite:.*, driver \S+; there is no store yet; serve will apply 001_plants\b/m,
    );
    expect(existsSync(folder.fileOf(settings))).to.equal(false);
    expect((await run(['migrate'], settings)).stdout).to.match(/^sqlite:.*: schema created\n$/);
    expect((await run(['check'], settings)).stdout).to.match(/^storage: sqlite:.*, driver \S+$/m);
    expect((await run(['migrate'], { DATABASE_URL: 'memory:' })).stdout).to.equal('memory:: no schema\n');
  });

  it('check reports every problem, in one line each', async () => {
    const { exitCode, stderr } = await run(['check'], { ...OTHER_HOSTS, ACCESS_TOKEN: 'canary', log_level: 'x' });
    expect([exitCode, toLines(stderr).length]).to.deep.equal([78, 4]);
    for (const problem of [
      /: ACCESS_TOKEN: no such setting; did you mean ACCESS_TOKENS\?$/m,
      /: log_level: no such setting; did you mean LOG_LEVEL\?$/m,
      /: ACCESS_TOKENS, .* must be set/,
      /: cannot open sqlite:/,
    ])
      expect(stderr).to.match(problem);
    expect(await run(['check'], { ...OTHER_HOSTS, ACCESS_TOKENS: 'secret' })).to.include({ exitCode: 1 });
  });

  it('import reads a file or standard input; repeated, it counts every plant as already stored', async () => {
    const plants = '{"id":9223372036854775807,"name":"é"}\n{"id":-9223372036854775808,"name":"","tag":"a "}\n';
    for (const source of [folder.newFile(plants), '-', undefined]) {
      const database = folder.newDatabase();
      for (const counts of ['2 plants created, 0 already stored', '0 plants created, 2 already stored'])
        expect(await run(['import', ...(source ? [source] : [])], database, plants)).to.deep.equal({
          ...{ exitCode: 0, stdout: '', stderr: `${counts}, 0 lines rejected\n` },
        });
      expect((await run(['export'], database)).stdout).to.equal(
        plants
          .split(/(?<=\n)/)
          .reverse()
          .join(''),
      );
    }
  });

  it('import writes rejected lines to standard output, stores the others, and exits with 1', async () => {
    const plants = ['a', 'b', 'x'.repeat(70_000), 'c'].map((name, at) => `{"id":${Math.max(1, at)},"name":"${name}"}`);
    const environment = { ...folder.newDatabase(), BODY_LIMIT: '64kb' };
    const { exitCode, stdout, stderr } = await run(['import'], environment, `no JSON\n${plants.join('\n')}`);
    expect({ exitCode, stderr }).to.deep.equal({
      ...{ exitCode: 1, stderr: '2 plants created, 0 already stored, 3 lines rejected\n' },
    });
    expect(toLines(stdout).map((line) => JSON.parse(line))).to.deep.equal([
      { line: 1, error: 40001, message: 'The input is not valid JSON' },
      { line: 3, error: 40901, message: 'id belongs to a different plant' },
      { line: 4, error: 41301, message: 'The line is larger than 65536 bytes' },
    ]);
  });

  it('refuses a schema of a newer version, and changes nothing', async () => {
    const database = folder.newDatabase();
    await run(['import'], database, plantLines(1, 3));
    const file = await SqliteFile.open(folder.fileOf(database));
    await file.exec("INSERT INTO plant_store_migrations (name) VALUES ('999_of_the_future')");
    await file.close();
    const bytes = readFileSync(folder.fileOf(database));
    for (const command of ['import', 'export', 'migrate', 'check']) {
      const { exitCode, stderr } = await run([command], database, plantLines(4, 1));
      expect(exitCode, command).to.equal(1);
      expect(stderr).to.match(/^plant-store: cannot open .*999_of_the_future.*\n$/);
      expect(readFileSync(folder.fileOf(database)).equals(bytes), command).to.equal(true);
    }
  });

  for (const command of ['import', 'export', 'token']) {
    it(`${command} reports a full disk at standard output, and ignores that the reader has closed it`, async function () {
      skipUnless(this, existsSync('/dev/full'), '/dev/full');
      const database = folder.newDatabase();
      await run(['import'], database, plantLines(1, 20_000));
      const lines = folder.newFile('no JSON\n'.repeat(20_000));
      const shell = (redirection: string) =>
        folder.shell(`$PLANT_STORE ${command} ${command === 'import' ? lines : ''} ${redirection}`, database);
      expect(await shell('> /dev/full')).to.deep.equal({
        ...{ exitCode: 1, stdout: '', stderr: 'plant-store: ENOSPC: no space left on device, write\n' },
      });
      expect((await shell('| head -c 1')).stderr).not.to.include('plant-store:');
    });
  }
});
