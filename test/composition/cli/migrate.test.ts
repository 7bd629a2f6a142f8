import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { toLines } from '../../support/client.js';
import { CommandFolder, plantLines } from '../../support/command-folder.js';
import { readSqlitePlants, SqliteFile } from '../../support/sqlite-file.js';

describe('plant-store migrate', () => {
  const folder = new CommandFolder();

  it('prints the pending migrations with --dry-run, and creates no file', async () => {
    const database = folder.newDatabase();
    const result = await folder.run(['migrate', '--dry-run'], database);
    expect(result).to.deep.equal({ exitCode: 0, stdout: 'would apply 001_plants\n', stderr: '' });
    expect(existsSync(folder.fileOf(database))).to.equal(false);
  });

  it('applies migrations once', async () => {
    const database = folder.newDatabase();
    expect(await folder.run(['migrate'], database)).to.deep.equal({
      exitCode: 0,
      stdout: 'applied 001_plants\n',
      stderr: '',
    });
    expect(await readSqlitePlants(folder.fileOf(database))).to.deep.equal([]);
    for (const args of [['migrate'], ['migrate', '--dry-run']]) {
      const result = await folder.run(args, database);
      expect(result).to.deep.equal({ exitCode: 0, stdout: 'the schema is up to date\n', stderr: '' });
    }
  });

  it('prints the result as JSON with --json', async () => {
    const database = folder.newDatabase();
    const result = async (...args: string[]) =>
      JSON.parse((await folder.run(['migrate', '--json', ...args], database)).stdout);
    expect(await result('--dry-run')).to.deep.equal({ applied: [], pending: ['001_plants'] });
    expect(await result()).to.deep.equal({ applied: ['001_plants'], pending: [] });
    expect(await result()).to.deep.equal({ applied: [], pending: [] });
  });

  it('does nothing for memory:', async () => {
    const { exitCode, stdout } = await folder.run(['migrate'], { DATABASE_URL: 'memory:' });
    expect([exitCode, stdout]).to.deep.equal([0, 'this storage has no migrations; only SQL databases have them\n']);
  });

  describe('with a schema of a newer version', () => {
    const database = folder.newDatabase();
    before(async () => {
      await folder.run(['import'], database, plantLines(1, 3));
      const file = await SqliteFile.open(folder.fileOf(database));
      await file.exec("INSERT INTO plant_store_migrations (name, batch) VALUES ('002_of_the_future', 2)");
      await file.close();
    });

    for (const args of [['serve'], ['import'], ['migrate', '--dry-run']]) {
      it(`${args.join(' ')} fails with one line and exit code 1, and changes nothing`, async () => {
        const bytes = readFileSync(folder.fileOf(database));
        const { exitCode, stdout, stderr } = await folder.run(args, { ...database, PORT: '0' }, plantLines(4, 1));
        expect([exitCode, stdout]).to.deep.equal([1, '']);
        expect(toLines(stderr)).to.have.lengthOf(1);
        expect(stderr).to.match(
          /^plant-store: cannot open .*: its schema has 002_of_the_future; start a newer version of plant-store$/m,
        );
        expect(await readSqlitePlants(folder.fileOf(database))).to.have.lengthOf(3);
        expect(readFileSync(folder.fileOf(database)).equals(bytes)).to.equal(true);
      });
    }
  });
});
