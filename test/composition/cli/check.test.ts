import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loadSqliteDriver } from '../../../adapters/driven/knex/sqlite-database.js';
import { CommandFolder } from '../../support/command-folder.js';

describe('plant-store check', () => {
  const folder = new CommandFolder();

  it('prints the settings and the state of the storage, and creates nothing', async () => {
    const database = folder.newDatabase();
    const before = await folder.run(['check', '--port', '8080'], database);
    expect(before).to.include({ exitCode: 0, stderr: '' });
    expect(before.stdout).to.match(/^HOST="127\.0\.0\.1" by default\nPORT="8080"\n/);
    expect(before.stdout).to.match(/^storage: sqlite:.*; serve applies 001_plants\n$/m);
    expect(existsSync(folder.fileOf(database))).to.equal(false);

    await folder.run(['migrate'], database);
    const after = await folder.run(['check'], database);
    expect(after).to.include({ exitCode: 0, stderr: '' });
    expect(after.stdout).to.match(
      RegExp(`^storage: sqlite:.*, driver ${loadSqliteDriver()?.name}; schema 001_plants, current\n$`, 'm'),
    );
  });

  for (const [what, environment, exitCode, problem] of [
    ['an invalid setting', { PORT: 'http' }, 78, /^plant-store: PORT="http" must be /],
    ['no credential on a public address', { HOST: '0.0.0.0' }, 78, /^plant-store: ACCESS_TOKENS, .* must be set/],
    ['a missing plugin', { PLUGINS: './none.js' }, 78, /^plant-store: PLUGINS="\.\/none\.js": Cannot find module/],
    ['a missing folder', { DATABASE_URL: 'sqlite:none/plants.db' }, 1, /^plant-store: cannot open sqlite:.*directory/],
    [
      'a missing file with ?mode=rw',
      { DATABASE_URL: 'sqlite:none.db?mode=rw' },
      1,
      /^plant-store: cannot open sqlite:/,
    ],
  ] as const) {
    it(`reports ${what}`, async () => {
      const result = await folder.run(['check'], environment);
      expect(result).to.include({ exitCode });
      expect(result.stderr).to.match(problem);
    });
  }
});
