import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { openRepository, sqliteDatabase } from '../../adapters/driven/knex/index.js';
import { serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { Load } from './load.js';

describe('A SQLite file that several processes use', () => {
  const folder = temporaryFolder();

  it('is created by one of eight services, and stores each id once', async () => {
    const services = Array.from({ length: 8 }, () => serve(folder, { DATABASE_URL: 'sqlite:raced.db' }));
    const [first = 0, ...others] = await Promise.all(services.map((service) => service.port()));
    const load = new Load();
    load.start(first, ...others);
    await load.waitForOutcomes(500, 200);
    await load.expectNothingLost(first, sqliteStore(`${folder}/raced.db`));
    expect(load.outcomes()).to.have.members(conclusive);
  });

  it('stays locked if one process opens it twice', async function () {
    skipUnlessInstalled(this, 'sqlite3', '--version');
    const path = `${folder}/twice.db`;
    const database = sqliteDatabase({ path, timeoutMs: 5000 });
    const repositories = [await openRepository(database), await openRepository({ ...database })];
    // The last process that closes the database deletes the log. SQLite 3.51 or newer would notice the lost locks.
    expect(spawnSync('sqlite3', [path, 'SELECT * FROM plants']).status).to.equal(0);
    expect(existsSync(`${path}-wal`)).to.equal(true);
    for (const repository of repositories) await repository.close();
  });
});
