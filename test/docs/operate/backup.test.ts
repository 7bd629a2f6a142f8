import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type DatabaseServer, databasesOn, mariadbServer, postgresServer } from '../../support/database-servers.js';
import { endProgramsAfterEach } from '../../support/executable.js';
import { needsProgram } from '../../support/needs.js';
import { temporaryFolder } from '../../support/temporary.js';
import { create, outcomeOf, serve } from '../../system/client.js';
import { CLIENTS, Load } from '../../system/load.js';
import { plantsIn } from '../../system/sqlite-file.js';
import { serverStore, sqliteStore, type TestStore } from '../../system/stores.js';
import { commandsUnder, run } from './guide.js';

/** How many plants there are at least when the backup begins. */
const PLANTS = 2000;

/** A store that is backed up, the one into which it is restored, and what the commands of the guide need to know. */
interface Backup {
  readonly source: TestStore;
  readonly target: TestStore;
  readonly backingUp: Readonly<Record<string, string>>;
  readonly restoring: Readonly<Record<string, string>>;
}

describe('A backup that is made, by the guide, while plants are created', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  /** Makes a backup under load, loses the store, restores it, and looks at what is there. */
  async function expectBackup(
    heading: 'SQLite' | 'PostgreSQL' | 'MariaDB and MySQL' | 'Any engine',
    { source, target, backingUp, restoring }: Backup,
  ): Promise<void> {
    const [backUp, restore] = commandsUnder(heading);
    const service = serve(folder, { DATABASE_URL: source.url, LOG_LEVEL: 'error' });
    const port = await service.port();
    const load = new Load();
    load.start(port);
    await load.more(PLANTS, 200);

    const before = load.created.length;
    await run(backUp, folder, backingUp);
    const backedUpAt = performance.now();
    expect(load.created.length, 'created during the backup').to.be.above(before);
    await load.more(2 * CLIENTS, 200);
    expect([...load.outcomes().keys()], 'and none refused').to.deep.equal([200]);
    service.kill('SIGKILL');
    await load.ended();

    await run(restore, folder, restoring);
    const restored = new Map((await target.plants()).map((plant) => [plant.id, plant]));
    const answered = load.created.slice(0, before).map(({ plant }) => plant);
    expect(
      answered.filter(({ id }) => !restored.has(id)),
      `lost, of ${answered.length} that were answered before the backup began`,
    ).to.deep.equal([]);
    const later = load.created.filter(({ sentAt }) => sentAt > backedUpAt);
    expect(later).not.to.have.length(0);
    expect(
      later.filter(({ plant }) => restored.has(plant.id)),
      'of a later time',
    ).to.deep.equal([]);
    expect([...restored].filter(([id, plant]) => !isDeepStrictEqual(plant, load.sent.get(id)))).to.deep.equal([]);

    const again = serve(folder, { DATABASE_URL: target.url });
    const portAgain = await again.port();
    const [one = { id: 0n, name: '' }] = answered;
    expect(outcomeOf(await create(portAgain, one))).to.equal(40902);
    expect(outcomeOf(await create(portAgain, { ...one, name: 'another' }))).to.equal(40901);
    expect(outcomeOf(await create(portAgain, { id: 2n ** 62n, name: 'new' }))).to.equal(200);
    expect(await again.kill('SIGTERM').exited()).to.equal(0);
    expect(await target.damages()).to.deep.equal([]);
  }

  /** The folder of a store, and the path of a backup. */
  function places(name: string): { readonly DATA: string; readonly BACKUP: string } {
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
    it(`that fails leaves the one before it as it is: ${heading}`, async function () {
      needsProgram(this, program, '--version');
      const { DATA, BACKUP } = places(`failing-${program}`);
      writeFileSync(BACKUP, 'the one before');
      const [backUp] = commandsUnder(heading);
      const nowhere = {
        HOME: DATA,
        PGHOST: DATA,
        PGDATABASE: 'none',
        DATABASE: 'none',
        DATABASE_URL: `sqlite:${DATA}/none`,
      };
      const failure = await run(backUp, folder, { DATA, BACKUP, ...nowhere }).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      expect(readFileSync(BACKUP, 'utf8')).to.equal('the one before');
    });
  }

  describe('of SQLite', () => {
    it('holds every plant that was answered before, and the service starts on it', async function () {
      needsProgram(this, 'sqlite3', '--version');
      this.timeout(60_000);
      const environment = places('sqlite');
      const store = sqliteStore(join(environment.DATA, 'plants.db'));
      await expectBackup('SQLite', { source: store, target: store, backingUp: environment, restoring: environment });
      expect(readdirSync(folder).filter((name) => name.startsWith('sqlite.'))).to.deep.equal(['sqlite.backup']);
    });

    it('is not made where there is no store: no file, and a failure', async function () {
      needsProgram(this, 'sqlite3', '--version');
      const environment = places('nothing');
      const [backUp] = commandsUnder('SQLite');
      const failure = await run(backUp, folder, environment).catch((error: unknown) => error);
      expect(failure).to.be.instanceOf(Error);
      expect(readdirSync(environment.DATA)).to.deep.equal([]);
      expect(readdirSync(folder)).not.to.include('nothing.backup');
    });

    it('by cp lacks plants, as the guide says', async () => {
      const { DATA, BACKUP } = places('cp');
      const service = serve(folder, { DATABASE_URL: `sqlite:${join(DATA, 'plants.db')}` });
      expect(outcomeOf(await create(await service.port(), { id: 1n, name: 'Monstera' }))).to.equal(200);
      await run('cp "$DATA/plants.db" "$BACKUP"', folder, { DATA, BACKUP });
      const found = await plantsIn(BACKUP).catch(() => 'not even the table');
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

      it('holds every plant that was answered before, and the service starts on it', async function () {
        needsProgram(this, program, '--version');
        this.timeout(60_000);
        const names = [`plant_store_backup_${process.pid}`, `plant_store_restored_${process.pid}`] as const;
        const admin = databases.connect();
        const stores = names.map((name) => {
          const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href;
          return { url, store: () => serverStore(url, server.client, databases.connect(url)) };
        });
        const [source, target] = stores;
        if (source === undefined || target === undefined) throw new Error('two names, two stores');
        const { BACKUP } = places(server.name);
        const environment = { ...access(new URL(server.url)), BACKUP };
        try {
          for (const name of names) await admin.raw(`CREATE DATABASE ${name}`);
          await expectBackup(heading, {
            source: source.store(),
            target: target.store(),
            backingUp: { ...environment, PGDATABASE: names[0], DATABASE: names[0] },
            restoring: { ...environment, PGDATABASE: names[1], DATABASE: names[1] },
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

    it('holds every plant that was answered before, and the service starts on it', async function () {
      this.timeout(60_000);
      const { DATA, BACKUP } = places('export');
      const source = sqliteStore(join(DATA, 'plants.db'));
      const url = await databases.create();
      const target = serverStore(url, 'pg', databases.connect(url));
      await expectBackup('Any engine', {
        source,
        target,
        backingUp: { BACKUP, DATABASE_URL: source.url },
        restoring: { BACKUP, DATABASE_URL: target.url },
      });
    });
  });
});
