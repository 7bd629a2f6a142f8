import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { sqlite } from '../../../adapters/driven/knex/index.js';
import { loadSqliteDriver } from '../../../adapters/driven/knex/sqlite.js';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { inRepository } from '../../support/paths.js';
import { plantLines } from '../../support/plants.js';
import { readSqlitePlants, SqliteFile } from '../../support/sqlite-file.js';
import { runInProcess } from './in-process.js';

const migrations = Object.keys(sqlite.migrations);

describe('The command', () => {
  const folder = new CommandFolder();
  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') =>
    runInProcess(folder.path, args, environment, input);

  it('check prints the settings and the state of the storage, and creates nothing', async () => {
    const database = folder.newDatabase();
    const flags = ['--port', '8080', '--base-path=/flag'];
    const before = await run(['check', ...flags], { ...database, PORT: '99999', BASE_PATH: '/variable' });
    expect(before).to.include({ exitCode: 0, stderr: '' });
    expect(before.stdout).to.match(/^HOST="127\.0\.0\.1" \(default\)\nPORT="8080"\nBASE_PATH="\/flag"\n/);
    expect(before.stdout).to.match(RegExp(`^storage: sqlite:.*; serve applies ${migrations.join(', ')}\n$`, 'm'));
    expect(existsSync(folder.fileOf(database))).to.equal(false);

    await run(['migrate'], database);
    const after = await run(['check'], database);
    expect(after).to.include({ exitCode: 0, stderr: '' });
    const state = `driver ${loadSqliteDriver()?.name}; schema ${migrations.at(-1)}, current`;
    expect(after.stdout).to.match(RegExp(`^storage: sqlite:.*, ${state}\n$`, 'm'));
  });

  for (const [line, environment, exitCode, problem] of [
    ['check --prot=8080', {}, 64, /^unknown option '--prot' \(did you mean --port\?\); see plant-store check --help$/],
    ['check', { PORT: 'http', DOCS: '1' }, 78, /^PORT="http" must be .*\nplant-store: DOCS="1" must be on or off$/],
    ['check', { HOST: '0.0.0.0' }, 78, /^ACCESS_TOKENS, .* or JWT_ISSUER must be set: HOST="0\.0\.0\.0".*$/],
    ['check', { PLUGINS: './none.js' }, 78, /^PLUGINS="\.\/none\.js": Cannot find module .*$/],
    ['check', { DATABASE_URL: 'sqlite:none/plants.db' }, 1, /^cannot open sqlite:.*directory.*$/],
    ['check', { DATABASE_URL: 'sqlite:none.db?mode=rw' }, 1, /^cannot open sqlite:.*$/],
    ['export', { DATABASE_URL: 'sqlite:none.db' }, 1, /^cannot open sqlite:.*: it does not exist$/],
    ['import none.ndjson', {}, 1, /^cannot open none\.ndjson: no such file or directory; check the path$/],
  ] as const) {
    it(`${line} exits with ${exitCode} and one line for ${JSON.stringify(environment)}`, async () => {
      const result = await run(line.split(' '), { DATABASE_URL: 'memory:', ...environment });
      expect(result).to.include({ exitCode });
      expect(result.stderr.replace(/^plant-store: |\n$/g, '')).to.match(problem);
      expect(existsSync(join(folder.path, 'none.db'))).to.equal(false);
    });
  }

  const PLANTS = '{"id":9223372036854775807,"name":"é"}\n{"id":-9223372036854775808,"name":"","tag":"a "}\n';
  for (const [source, toFile] of [
    ['a file', () => [folder.newFile(PLANTS)]],
    ['standard input', () => []],
    ['standard input (-)', () => ['-']],
  ] as const) {
    it(`import reads ${source}, and counts every plant as already stored when it is repeated`, async () => {
      const database = folder.newDatabase();
      const args = ['import', ...toFile()];
      for (const counts of ['2 plants created, 0 already stored', '0 plants created, 2 already stored']) {
        const stderr = `${counts}, 0 lines rejected\n`;
        expect(await run(args, database, PLANTS)).to.deep.equal({ exitCode: 0, stdout: '', stderr });
      }
      expect(await readSqlitePlants(folder.fileOf(database))).to.deep.equal([
        { id: -9223372036854775808n, name: '', tag: 'a ' },
        { id: 9223372036854775807n, name: 'é' },
      ]);
    });
  }

  describe('import with rejected lines', () => {
    const BAD = `{"id":1,"name":"a"}\nno JSON\n{"id":1,"name":"b"}\n{"id":2,"name":"${'x'.repeat(70_000)}"}\n{"id":3,"name":"c"}\n`;
    const REJECTED = [
      { line: 2, error: 40001, message: 'The input is not valid JSON' },
      { line: 3, error: 40901, message: 'id belongs to a different plant' },
      { line: 4, error: 41301, message: 'The line is larger than 65536 bytes' },
    ];
    const BODY_LIMIT = '64kb';

    it('reports them on stderr and the summary as JSON, stores the other lines, and exits with 1', async () => {
      const database = folder.newDatabase();
      const { exitCode, stdout, stderr } = await run(['import', '--json'], { ...database, BODY_LIMIT }, BAD);
      expect(exitCode).to.equal(1);
      expect(JSON.parse(stdout)).to.deep.equal({ created: 2, alreadyStored: 0, rejected: 3 });
      expect(toLines(stderr).map((line) => JSON.parse(line))).to.deep.equal(REJECTED);
      expect((await readSqlitePlants(folder.fileOf(database))).map(({ name }) => name)).to.deep.equal(['a', 'c']);
    });

    it('writes them to --rejects FILE', async () => {
      const rejects = folder.newName('rejects');
      const result = await run(['import', '--rejects', rejects], { ...folder.newDatabase(), BODY_LIMIT }, BAD);
      expect(result.stderr).to.equal('2 plants created, 0 already stored, 3 lines rejected\n');
      const lines = toLines(readFileSync(join(folder.path, rejects), 'utf8'));
      expect(lines.map((line) => JSON.parse(line))).to.deep.equal(REJECTED);
    });
  });

  it('migrate prints the result as JSON with --json', async () => {
    const database = folder.newDatabase();
    for (const [flags, applied, pending] of [
      [['--dry-run'], [], migrations],
      [[], migrations, []],
      [[], [], []],
    ] as const) {
      const { stdout } = await run(['migrate', '--json', ...flags], database);
      expect(JSON.parse(stdout)).to.deep.equal({ applied, pending });
    }
  });

  it('migrate does nothing for memory:', async () => {
    const stdout = 'this storage has no migrations; only SQL databases have them\n';
    expect(await run(['migrate'], { DATABASE_URL: 'memory:' })).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
  });

  for (const line of ['import', 'export', 'migrate', 'migrate --dry-run', 'check']) {
    it(`${line} fails with one line for a schema of a newer version, and changes nothing`, async () => {
      const database = folder.newDatabase();
      await run(['import'], database, plantLines(1, 3));
      const file = await SqliteFile.open(folder.fileOf(database));
      await file.exec("INSERT INTO plant_store_migrations (name, batch) VALUES ('999_of_the_future', 2)");
      await file.close();
      const bytes = readFileSync(folder.fileOf(database));
      const { exitCode, stderr } = await run(line.split(' '), database, plantLines(4, 1));
      expect(exitCode).to.equal(1);
      expect(stderr).to.match(
        /^plant-store: cannot open .*: its schema has 999_of_the_future; start a newer version of plant-store\n$/,
      );
      expect(readFileSync(folder.fileOf(database)).equals(bytes)).to.equal(true);
    });
  }

  it('--version prints the version of package.json', async () => {
    const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    for (const flag of ['--version', '-v'])
      expect(await run([flag])).to.deep.equal({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });
});
