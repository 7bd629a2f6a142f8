import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../support/catch-error.js';
import { create, serve, toOutcome } from '../../support/client.js';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../../support/database-servers.js';
import { serverStore, sqliteStore, type TestStore } from '../../support/engines.js';
import { endProgramsAfterEach } from '../../support/executable.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { readSqlitePlants } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { CLIENTS, Load } from '../../system/load.js';
import { conclusive, violationsOf } from '../history.js';
import { commandsUnder, run } from './guide.js';

/** Minimum number of plants before the backup. */
const MIN_PLANTS = 2000;

/** A store, the store into which its backup is restored, and the variables for the commands of the guide. */
interface Backup {
  readonly source: TestStore;
  readonly target: TestStore;
  readonly backUpVariables: Readonly<Record<string, string>>;
  readonly restoreVariables: Readonly<Record<string, string>>;
}

describe('A backup according to the guide', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  /** Makes a backup under load, kills the service, restores the backup and checks the restored store. */
  async function expectBackup(
    heading: 'SQLite' | 'PostgreSQL' | 'MariaDB and MySQL' | 'Any engine',
    { source, target, backUpVariables, restoreVariables }: Backup,
  ): Promise<void> {
    const [backUp, restore] = commandsUnder(heading);
    const service = serve(folder, { DATABASE_URL: source.url, LOG_LEVEL: 'error' });
    const port = await service.port();
    const load = new Load();
    load.start(port);
    await load.waitForOutcomes(MIN_PLANTS, 200);

    const before = load.history.length;
    const startedAt = performance.now();
    await run(backUp, folder, backUpVariables);
    const endedAt = performance.now();
    expect(load.history.length, 'created during the backup').to.be.above(before);
    await load.waitForOutcomes(2 * CLIENTS, 200);
    expect(load.outcomes(), 'outcomes during the backup').to.have.members(conclusive);
    service.kill('SIGKILL');
    await load.ended();

    await run(restore, folder, restoreVariables);
    const restored = await target.readPlants();
    // The backup may or may not contain creates that ended after it started.
    const history = load.history.map((operation) =>
      operation.endedAt < startedAt ? operation : { ...operation, outcome: undefined },
    );
    expect(violationsOf(history, restored)).to.deep.equal([]);
    const ids = new Set(restored.map(({ id }) => id));
    const later = load.history.filter(({ sentAt, outcome }) => sentAt > endedAt && outcome === 200);
    expect(later).not.to.have.length(0);
    expect(
      later.filter(({ plant }) => ids.has(plant.id)),
      'plants created after the backup',
    ).to.deep.equal([]);

    const restarted = serve(folder, { DATABASE_URL: target.url });
    const newPort = await restarted.port();
    const [stored = { id: 0n, name: '' }] = restored;
    expect(toOutcome(await create(newPort, stored))).to.equal(40902);
    expect(toOutcome(await create(newPort, { ...stored, name: 'another' }))).to.equal(40901);
    expect(toOutcome(await create(newPort, { id: 2n ** 62n, name: 'new' }))).to.equal(200);
    expect(await restarted.kill('SIGTERM').exited()).to.equal(0);
    expect(await target.checkIntegrity()).to.deep.equal([]);
  }

  /** Creates a folder for a store, and returns its path and a path for a backup. */
  function createPaths(name: string): { readonly DATA: string; readonly BACKUP: string } {
    const DATA = join(folder, name);
    mkdirSync(DATA);
    return { DATA, BACKUP: join(folder, `${name}.backup`) };
  }

  for (const [heading, program] of [
    ['SQLite', 'sqlite3'],
    ['PostgreSQL', 'pg_dump'],
    ['MariaDB and MySQL', 'mariadb-dump'],
    ['Any engine', 'node'],
  ] as const) {
    it(`leaves the previous backup unchanged if it fails: ${heading}`, async function () {
      skipUnlessInstalled(this, program, '--version');
      const { DATA, BACKUP } = createPaths(`failing-${program}`);
      writeFileSync(BACKUP, 'previous backup');
      const [backUp] = commandsUnder(heading);
      const missingStore = {
        HOME: DATA,
        PGHOST: DATA,
        PGDATABASE: 'none',
        DATABASE: 'none',
        DATABASE_URL: `sqlite:${DATA}/none`,
      };
      const failure = await catchError(run(backUp, folder, { DATA, BACKUP, ...missingStore }));
      expect(failure).to.be.instanceOf(Error);
      expect(readFileSync(BACKUP, 'utf8')).to.equal('previous backup');
    });
  }

  describe('of SQLite', () => {
    it('under load, contains every plant acknowledged before it, and the service starts on it', async function () {
      skipUnlessInstalled(this, 'sqlite3', '--version');
      const environment = createPaths('sqlite');
      const store = sqliteStore(join(environment.DATA, 'plants.db'));
      await expectBackup('SQLite', {
        source: store,
        target: store,
        backUpVariables: environment,
        restoreVariables: environment,
      });
      expect(readdirSync(folder).filter((name) => name.startsWith('sqlite.'))).to.deep.equal(['sqlite.backup']);
    });

    it('fails and creates no file if the store does not exist', async function () {
      skipUnlessInstalled(this, 'sqlite3', '--version');
      const environment = createPaths('nothing');
      const [backUp] = commandsUnder('SQLite');
      const failure = await catchError(run(backUp, folder, environment));
      expect(failure).to.be.instanceOf(Error);
      expect(readdirSync(environment.DATA)).to.deep.equal([]);
      expect(readdirSync(folder)).not.to.include('nothing.backup');
    });

    it('misses plants if cp makes it instead, as the guide warns', async () => {
      const { DATA, BACKUP } = createPaths('cp');
      const service = serve(folder, { DATABASE_URL: `sqlite:${join(DATA, 'plants.db')}` });
      expect(toOutcome(await create(await service.port(), { id: 1n, name: 'Monstera' }))).to.equal(200);
      await run('cp "$DATA/plants.db" "$BACKUP"', folder, { DATA, BACKUP });
      const found = await readSqlitePlants(BACKUP).catch(() => 'no table');
      expect(found).not.to.deep.equal([{ id: 1n, name: 'Monstera' }]);
    });
  });

  onServer(postgresServer, 'PostgreSQL', 'pg_dump', ({ hostname, port, username, password }) => {
    return { PGHOST: hostname, PGPORT: port || '5432', PGUSER: username, PGPASSWORD: password };
  });

  onServer(mariadbServer, 'MariaDB and MySQL', 'mariadb-dump', ({ hostname, port, username, password }) => {
    const lines = [`host=${hostname}`, `port=${port || '3306'}`, `user=${username}`, `password=${password}`];
    writeFileSync(join(folder, '.my.cnf'), `[client]\n${lines.join('\n')}\n`);
    return { HOME: folder };
  });

  function onServer(
    server: DatabaseServer,
    heading: 'PostgreSQL' | 'MariaDB and MySQL',
    program: string,
    access: (url: URL) => Record<string, string>,
  ): void {
    describe(`of ${server.name}`, () => {
      const databases = databasesOn(server);

      it('under load, contains every plant acknowledged before it, and the service starts on it', async function () {
        skipUnlessInstalled(this, program, '--version');
        const names = [`plant_store_backup_${process.pid}`, `plant_store_restored_${process.pid}`] as const;
        const admin = databases.connect();
        const connectTo = (name: string) => {
          const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
          return serverStore(url, server.client, databases.connect(url));
        };
        const { BACKUP } = createPaths(server.name);
        const environment = { ...access(new URL(server.url)), BACKUP };
        try {
          for (const name of names) await admin.raw(`CREATE DATABASE ${name}`);
          await expectBackup(heading, {
            source: connectTo(names[0]),
            target: connectTo(names[1]),
            backUpVariables: { ...environment, PGDATABASE: names[0], DATABASE: names[0] },
            restoreVariables: { ...environment, PGDATABASE: names[1], DATABASE: names[1] },
          });
        } finally {
          const force = server.client === 'pg' ? ' WITH (FORCE)' : '';
          for (const name of names) await admin.raw(`DROP DATABASE IF EXISTS ${name}${force}`);
        }
      });
    });
  }

  describe('by export, from SQLite to PostgreSQL', () => {
    const databases = databasesOn(postgresServer);

    it('under load, contains every plant acknowledged before it, and the service starts on it', async () => {
      const { DATA, BACKUP } = createPaths('export');
      const source = sqliteStore(join(DATA, 'plants.db'));
      const url = await databases.create();
      const target = serverStore(url, 'pg', databases.connect(url));
      await expectBackup('Any engine', {
        source,
        target,
        backUpVariables: { BACKUP, DATABASE_URL: source.url },
        restoreVariables: { BACKUP, DATABASE_URL: target.url },
      });
    });
  });
});
