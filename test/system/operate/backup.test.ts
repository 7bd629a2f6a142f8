import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { catchError } from '../../support/catch-error.js';
import { create, serve } from '../../support/client.js';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../../support/database-servers.js';
import { serverStore, sqliteStore, type TestStore } from '../../support/engines.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';
import { commandsUnder, run } from './guide.js';

/** Minimum number of plants before the backup. */
const MIN_PLANTS = 2000;

/** A store, and the variables that the commands of the guide need for it. */
interface StoreToBackUp {
  readonly store: TestStore;
  readonly variables: Readonly<Record<string, string>>;
}

describe('A backup according to the guide', () => {
  const folder = temporaryFolder();
  const created: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const drop of created.splice(0)) await drop();
  });

  const onSqlite = async (name: string): Promise<StoreToBackUp> => {
    const DATA = join(folder, name);
    mkdirSync(DATA, { recursive: true });
    const store = sqliteStore(join(DATA, 'plants.db'));
    return { store, variables: { DATA, DATABASE_URL: store.url } };
  };
  /** Returns a function that creates databases, because a dump contains a whole one; the test drops them. */
  const onServer = (server: DatabaseServer) => {
    const databases = databasesOn(server);
    return async (role: string): Promise<StoreToBackUp> => {
      const name = `plant_store_${role}_${process.pid}`;
      const admin = databases.connect();
      await admin.raw(`CREATE DATABASE ${name}`);
      created.push(() => admin.raw(`DROP DATABASE ${name}${server.client === 'pg' ? ' WITH (FORCE)' : ''}`));
      const url = Object.assign(new URL(server.url), { pathname: `/${name}` });
      const { hostname: host, port, username: user, password } = url;
      const client = { host, user, password, ...(port && { port }) };
      const lines = Object.entries(client).map(([option, value]) => `${option}=${value}\n`);
      writeFileSync(join(folder, '.my.cnf'), `[client]\n${lines.join('')}`);
      const access = { PGHOST: host, PGPORT: port, PGUSER: user, PGPASSWORD: password, HOME: folder };
      const store = serverStore(url.href, databases.connect(url.href));
      return { store, variables: { ...access, PGDATABASE: name, DATABASE: name } };
    };
  };

  for (const [heading, program, createStore] of [
    // Restoring replaces the file.
    ['SQLite', 'sqlite3', () => onSqlite('restored')],
    ['PostgreSQL', 'pg_dump', onServer(postgresServer)],
    ['MariaDB and MySQL', 'mariadb-dump', onServer(mariadbServer)],
    ['Any engine', 'node', (role: string) => onSqlite(`any-${role}`)],
  ] as const) {
    it(`contains every plant acknowledged before it, and no later one, and can be restored: ${heading}`, async function () {
      skipUnlessInstalled(this, program, '--version');
      const [backUp, restore] = commandsUnder(heading);
      const [source, target] = [await createStore('source'), await createStore('target')];
      const BACKUP = join(folder, 'backup');
      const service = serve(folder, { DATABASE_URL: source.store.url, LOG_LEVEL: 'error' });
      const load = await Load.on(await service.port(), MIN_PLANTS);

      const before = load.history.length;
      const startedAt = performance.now();
      await run(backUp, folder, { ...source.variables, BACKUP });
      const endedAt = performance.now();
      expect(load.history.length, 'created during the backup').to.be.above(before);
      await load.waitForOutcomes(2 * CLIENTS, 200);
      expect(load.outcomes(), 'outcomes during the backup').to.have.members(conclusive);
      service.kill('SIGKILL');
      await load.ended();

      expect(readdirSync(folder).filter((name) => /^backup./.test(name))).to.deep.equal([]);
      await run(restore, folder, { ...target.variables, BACKUP });
      const restored = await target.store.readPlants();
      // The backup may or may not contain creates that ended after it started.
      const history = load.history.map((operation) =>
        operation.endedAt < startedAt ? operation : { ...operation, outcome: undefined },
      );
      expect(violationsOf(history, restored)).to.deep.equal([]);
      const ids = new Set(restored.map(({ id }) => id));
      const later = load.history.filter(({ sentAt, outcome }) => sentAt > endedAt && outcome === 200);
      expect(later).not.to.have.length(0);
      expect(later.filter(({ plant }) => ids.has(plant.id))).to.deep.equal([]);

      const restarted = serve(folder, { DATABASE_URL: target.store.url });
      const port = await restarted.port();
      const [stored = { id: 0n, name: '' }] = restored;
      expect((await create(port, stored))?.outcome).to.equal(40902);
      expect((await create(port, { id: 2n ** 62n, name: 'new' }))?.outcome).to.equal(200);
      expect(await restarted.stop()).to.equal(0);
      expect((await target.store.checkIntegrity?.()) ?? []).to.deep.equal([]);
    });
  }

  it('leaves the previous backup unchanged and creates no store if it fails', async function () {
    skipUnlessInstalled(this, 'sqlite3', '--version');
    const BACKUP = join(folder, 'previous');
    writeFileSync(BACKUP, 'previous backup');
    const DATA = join(folder, 'empty');
    mkdirSync(DATA);
    for (const heading of ['SQLite', 'Any engine']) {
      const failing = run(commandsUnder(heading)[0], folder, { DATA, BACKUP, DATABASE_URL: `sqlite:${DATA}/none` });
      expect(await catchError(failing)).to.be.instanceOf(Error);
      expect(readFileSync(BACKUP, 'utf8')).to.equal('previous backup');
      expect(readdirSync(DATA)).to.deep.equal([]);
    }
  });
});
