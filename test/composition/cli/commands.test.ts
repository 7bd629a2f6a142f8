import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { sqlite } from '../../../adapters/driven/knex/index.js';
import { loadSqliteDriver } from '../../../adapters/driven/knex/sqlite.js';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { sqliteStore } from '../../support/engines.js';
import { inRepository } from '../../support/paths.js';
import { plantLines } from '../../support/plants.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { runInProcess } from './in-process.js';

const migrations = Object.keys(sqlite.migrations);
const JWT = { JWT_ISSUER: 'https://issuer', JWT_AUDIENCE: 'plants', JWT_JWKS_URL: 'https://issuer/keys' };
/** Other hosts can connect, so a credential is required; the storage cannot be opened. */
const OTHER_HOSTS = { HOST: '::', DATABASE_URL: 'sqlite:none.db?mode=rw' };

describe('The command', () => {
  const folder = new CommandFolder();
  const run = (args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') =>
    runInProcess(folder.path, args, environment, input);
  const readPlants = (database: { readonly DATABASE_URL: string }) => sqliteStore(folder.fileOf(database)).readPlants();

  it('check prints the settings and the state of the storage, and creates nothing', async () => {
    const database = folder.newDatabase();
    const flags = ['--port', '8080', '--base-path=/flag'];
    const before = await run(['check', ...flags], { ...database, PORT: '99999', BASE_PATH: '/variable' });
    expect(before).to.include({ exitCode: 0, stderr: '' });
    expect(before.stdout).to.match(/^HOST="127\.0\.0\.1" \(default\)\nPORT="8080"\nBASE_PATH="\/flag"\n/);
    const driver = `driver ${loadSqliteDriver()?.name}`;
    const planned = `${driver}; serve applies ${migrations.join(', ')}`;
    expect(before.stdout).to.match(RegExp(`^storage: sqlite:.* contains no store yet, ${planned}\n$`, 'm'));
    expect(existsSync(folder.fileOf(database))).to.equal(false);

    const { stdout } = await run(['migrate'], database);
    expect(stdout).to.equal(migrations.map((name) => `applied ${name}\n`).join(''));
    const after = await run(['check'], database);
    expect(after).to.include({ exitCode: 0, stderr: '' });
    expect(after.stdout).to.match(
      RegExp(`^storage: sqlite:.*, ${driver}; schema ${migrations.at(-1)}, current\n$`, 'm'),
    );
  });

  for (const [line, environment, exitCode, problem] of [
    ['check --prot=8080', {}, 64, /^unknown option '--prot' \(did you mean --port\?\); see plant-store check --help$/],
    ['check', { PORT: 'http', DOCS: '1' }, 78, /^PORT="http" must be .*\nplant-store: DOCS="1" must be on or off$/],
    ['check', { HOST: '0.0.0.0', DATABASE_URL: 'sqlite:none/plants.db' }, 78, /^ACCESS_TOKENS, .*\n.*cannot open .*$/],
    // If this were accepted, the command would fail because it cannot listen.
    ['serve', { HOST: 'plants.invalid' }, 78, /^ACCESS_TOKENS, .* must be set: HOST="plants\.invalid" is not .*$/],
    ['check', { PLUGINS: './none.js' }, 78, /^PLUGINS="\.\/none\.js": Cannot find module .*$/],
    ['check', { DATABASE_URL: 'sqlite:none/plants.db' }, 1, /^cannot open sqlite:.*directory.*$/],
    // A credential is configured.
    ['check', { ...OTHER_HOSTS, ...JWT }, 1, /^cannot open sqlite:.*$/],
    ['check', { ...OTHER_HOSTS, ACCESS_TOKENS_FILE: folder.newFile('token') }, 1, /^cannot open sqlite:.*$/],
    ['export', { DATABASE_URL: 'sqlite:none.db' }, 1, /^cannot open sqlite:.*: it does not exist$/],
    ['import .', {}, 1, /^0 plants created, .*\nplant-store: cannot read \.: it is a directory; name a file in it$/],
    ['import none.ndjson', {}, 1, /^cannot open none\.ndjson: no such file or directory; check the path$/],
  ] as const) {
    it(`${line} exits with ${exitCode} and one line per problem for ${JSON.stringify(environment)}`, async () => {
      const result = await run(line.split(' '), { DATABASE_URL: 'memory:', ...environment });
      expect(result).to.include({ exitCode });
      expect(result.stderr.replace(/^plant-store: |\n$/g, '')).to.match(problem);
      expect(existsSync(join(folder.path, 'none.db'))).to.equal(false);
    });
  }

  const PLANTS = '{"id":9223372036854775807,"name":"é"}\n{"id":-9223372036854775808,"name":"","tag":"a "}\n';
  for (const source of ['file', '-', '']) {
    it(`import reads ${source || 'standard input'}, and counts every plant as already stored when it is repeated`, async () => {
      const database = folder.newDatabase();
      const args = ['import', source === 'file' ? folder.newFile(PLANTS) : source].filter(Boolean);
      for (const counts of ['2 plants created, 0 already stored', '0 plants created, 2 already stored']) {
        const stderr = `${counts}, 0 lines rejected\n`;
        expect(await run(args, database, PLANTS)).to.deep.equal({ exitCode: 0, stdout: '', stderr });
      }
      expect(await readPlants(database)).to.deep.equal([
        { id: -9223372036854775808n, name: '', tag: 'a ' },
        { id: 9223372036854775807n, name: 'é' },
      ]);
    });
  }

  it('import writes rejected lines to standard error or to --rejects FILE, stores the others, and exits with 1', async () => {
    const plants = ['a', 'b', 'x'.repeat(70_000), 'c'].map(
      (name, at) => `{"id":${Math.max(1, at)},"name":"${name}"}\n`,
    );
    const environment = { ...folder.newDatabase(), BODY_LIMIT: '64kb' };
    const { exitCode, stdout, stderr } = await run(['import', '--json'], environment, `no JSON\n${plants.join('')}`);
    expect(exitCode).to.equal(1);
    expect(JSON.parse(stdout)).to.deep.equal({ created: 2, alreadyStored: 0, rejected: 3 });
    expect(toLines(stderr).map((line) => JSON.parse(line))).to.deep.equal([
      { line: 1, error: 40001, message: 'The input is not valid JSON' },
      { line: 3, error: 40901, message: 'id belongs to a different plant' },
      { line: 4, error: 41301, message: 'The line is larger than 65536 bytes' },
    ]);
    expect((await readPlants(environment)).map(({ name }) => name)).to.deep.equal(['a', 'c']);

    const again = await run(['import', '--rejects', 'rejects'], environment, `no JSON\n${plants.join('')}`);
    expect(again.stderr).to.equal('0 plants created, 2 already stored, 3 lines rejected\n');
    expect(readFileSync(join(folder.path, 'rejects'), 'utf8')).to.equal(stderr);
  });

  it('migrate does nothing for memory:', async () => {
    const stdout = 'this storage has no migrations; only SQL databases have them\n';
    expect(await run(['migrate'], { DATABASE_URL: 'memory:' })).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
  });

  it('import, export, migrate and check fail with one line for a schema of a newer version, and change nothing', async () => {
    const database = folder.newDatabase();
    await run(['import'], database, plantLines(1, 3));
    const file = await SqliteFile.open(folder.fileOf(database));
    await file.exec("INSERT INTO plant_store_migrations (name, batch) VALUES ('999_of_the_future', 2)");
    await file.close();
    const bytes = readFileSync(folder.fileOf(database));
    for (const line of ['import', 'export', 'migrate', 'migrate --dry-run', 'check']) {
      const { exitCode, stderr } = await run(line.split(' '), database, plantLines(4, 1));
      expect(exitCode, line).to.equal(1);
      expect(stderr).to.match(
        /^plant-store: cannot open .*: its schema has 999_of_the_future; start a newer version.*\n$/,
      );
      expect(readFileSync(folder.fileOf(database)).equals(bytes), line).to.equal(true);
    }
  });

  it('--version prints the version of package.json', async () => {
    const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
    for (const flag of ['--version', '-v'])
      expect(await run([flag])).to.deep.equal({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });
});
