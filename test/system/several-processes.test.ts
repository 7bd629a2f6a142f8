import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { openRepository, sqliteDatabase } from '../../adapters/driven/knex/index.js';
import { create, serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

describe('A SQLite file that several processes use', () => {
  const folder = temporaryFolder();

  it('is created by one of eight services, and stores each id once', async () => {
    const services = Array.from({ length: 8 }, () => serve(folder, { DATABASE_URL: 'sqlite:raced.db' }));
    const ports = await Promise.all(services.map((service) => service.port()));
    const plants = ports.flatMap((port) =>
      Array.from({ length: 20 }, (_, id) => ({ port, plant: { id: BigInt(id), name: `from ${port}` } })),
    );
    const outcomes = await Promise.all(
      plants.map(async ({ port, plant }) => ({ plant, outcome: (await create(port, plant))?.outcome })),
    );
    expect(new Set(outcomes.map(({ outcome }) => outcome))).to.deep.equal(new Set([200, 40901]));
    const created = outcomes.filter(({ outcome }) => outcome === 200).map(({ plant }) => plant);
    expect(created).to.have.length(20);
    expect(await sqliteStore(`${folder}/raced.db`).readPlants()).to.have.deep.members(created);
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
