import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../support/catch-error.js';
import { create, serve } from '../../support/client.js';
import { databasesOn, postgresServer } from '../../support/database-servers.js';
import { serverStore, sqliteStore, type TestStore } from '../../support/engines.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';
import { commandsUnder, run } from './guide.js';

/** Minimum number of plants before the backup. */
const MIN_PLANTS = 2000;

type Role = 'source' | 'target';

/** A store, and the variables that the commands of the guide need for it. */
interface StoreToBackUp {
  readonly store: TestStore;
  readonly variables: Readonly<Record<string, string>>;
}

describe('A backup according to the guide', () => {
  const folder = temporaryFolder();
  const postgres = databasesOn(postgresServer);
  const onSqlite = async (name: string): Promise<StoreToBackUp> => {
    const store = sqliteStore(join(folder, name, 'plants.db'));
    return { store, variables: { DATA: join(folder, name), DATABASE_URL: store.url } };
  };
  const onPostgres = async (): Promise<StoreToBackUp> => {
    const url = await postgres.create();
    return { store: serverStore(url, postgres.connect(url)), variables: { DATABASE_URL: url } };
  };

  for (const [heading, program, createStore] of [
    ['SQLite', 'sqlite3', () => onSqlite('SQLite')],
    ['Any engine', 'node', (role: Role) => (role === 'source' ? onSqlite('Any engine') : onPostgres())],
  ] as const) {
    it(`contains every plant acknowledged before it, and no later one, and can be restored: ${heading}`, async function () {
      skipUnlessInstalled(this, program, '--version');
      mkdirSync(join(folder, heading));
      await expectBackup(commandsUnder(heading), await createStore('source'), await createStore('target'));
    });

    it(`leaves the previous backup unchanged and creates no store if it fails: ${heading}`, async function () {
      skipUnlessInstalled(this, program, '--version');
      const DATA = join(folder, `${heading}, failing`);
      mkdirSync(DATA);
      const BACKUP = join(folder, `${heading}.failing`);
      writeFileSync(BACKUP, 'previous backup');
      const failing = run(commandsUnder(heading)[0], folder, { DATA, BACKUP, DATABASE_URL: `sqlite:${DATA}/none` });
      expect(await catchError(failing)).to.be.instanceOf(Error);
      expect(readFileSync(BACKUP, 'utf8')).to.equal('previous backup');
      expect(readdirSync(DATA)).to.deep.equal([]);
    });
  }

  /** Makes a backup under load, kills the service, restores the backup and checks the restored store. */
  async function expectBackup(
    [backUp, restore]: readonly string[],
    { store: source, variables }: StoreToBackUp,
    { store: target, variables: restoreVariables }: StoreToBackUp,
  ): Promise<void> {
    const BACKUP = join(folder, 'backup');
    const service = serve(folder, { DATABASE_URL: source.url, LOG_LEVEL: 'error' });
    const load = await Load.on(await service.port(), MIN_PLANTS);

    const before = load.history.length;
    const startedAt = performance.now();
    await run(backUp, folder, { ...variables, BACKUP });
    const endedAt = performance.now();
    expect(load.history.length, 'created during the backup').to.be.above(before);
    await load.waitForOutcomes(2 * CLIENTS, 200);
    expect(load.outcomes(), 'outcomes during the backup').to.have.members(conclusive);
    service.kill('SIGKILL');
    await load.stop();

    expect(readdirSync(folder).filter((name) => /^backup./.test(name))).to.deep.equal([]);
    await run(restore, folder, { ...restoreVariables, BACKUP });
    const restored = await target.readPlants();
    // The backup may or may not contain creates that ended after it started.
    const history = load.history.map((operation) =>
      operation.endedAt < startedAt ? operation : { ...operation, outcome: undefined },
    );
    expect(violationsOf(history, restored)).to.deep.equal([]);
    const ids = new Set(restored.map(({ id }) => id));
    const later = load.history.filter(({ sentAt, outcome }) => sentAt > endedAt && outcome === 200);
    expect(later).not.to.have.length(0);
    expect(later.filter(({ plant }) => ids.has(plant.id))).to.deep.equal([]);

    const restarted = serve(folder, { DATABASE_URL: target.url });
    const port = await restarted.port();
    const [stored = { id: 0n, name: '' }] = restored;
    expect((await create(port, stored))?.outcome).to.equal(40902);
    expect((await create(port, { ...stored, name: 'another' }))?.outcome).to.equal(40901);
    expect((await create(port, { id: 2n ** 62n, name: 'new' }))?.outcome).to.equal(200);
    expect(await restarted.stop()).to.equal(0);
    expect((await target.checkIntegrity?.()) ?? []).to.deep.equal([]);
  }
});
