import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { catchError } from '../../support/catch-error.js';
import { create, serve } from '../../support/client.js';
import { postgresEngine, sqliteStore } from '../../support/engines.js';
import { commandsUnder, runCommands } from '../../support/guide.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';

for (const [title, heading] of [
  ['A backup of a SQLite file according to the guide', 'SQLite'],
  ['A backup of any engine according to the guide', 'Any engine'],
] as const) {
  describe(title, () => {
    const folder = temporaryFolder();
    const BACKUP = join(folder, 'backup');
    const [backUp, restore] = commandsUnder(heading);
    const postgres = heading === 'Any engine' ? postgresEngine.stores() : undefined;
    /** Creates a folder for a SQLite store. Returns the store, and the variables that the guide's commands need for it. */
    const createStore = (name: string) => {
      const DATA = join(folder, name);
      mkdirSync(DATA);
      const store = sqliteStore(join(DATA, 'plants.db'));
      return { store, variables: { DATA, BACKUP, DATABASE_URL: store.url } };
    };
    before(function () {
      skipUnlessInstalled(this, 'sqlite3', '--version');
    });

    it('leaves the previous backup unchanged and creates no store if it fails', async () => {
      const { variables } = createStore('failing');
      writeFileSync(BACKUP, 'previous backup');
      const failing = runCommands(backUp, folder, { ...variables, DATABASE_URL: `sqlite:${variables.DATA}/none` });
      expect(await catchError(failing)).to.be.instanceOf(Error);
      expect(readFileSync(BACKUP, 'utf8')).to.equal('previous backup');
      expect(readdirSync(variables.DATA)).to.deep.equal([]);
    });

    it('contains every plant acknowledged before it, and can be restored', async () => {
      const { store, variables } = createStore('data');
      const service = serve(folder, { DATABASE_URL: store.url, LOG_LEVEL: 'error' });
      const load = await Load.on(await service.port(), 2000);

      const startedAt = performance.now();
      await runCommands(backUp, folder, variables);
      expect(load.history.at(-1)?.sentAt, 'created during the backup').to.be.above(startedAt);
      await load.waitForOutcomes(2 * CLIENTS, 200);
      expect(load.outcomes(), 'outcomes during the backup').to.have.members(conclusive);
      service.kill('SIGKILL');
      await load.stop();

      expect(readdirSync(folder).filter((name) => /^backup./.test(name))).to.deep.equal([]);
      const target = (await postgres?.create()) ?? store;
      await runCommands(restore, folder, { ...variables, DATABASE_URL: target.url });
      const restored = await target.readPlants();
      // The backup may or may not contain creates that ended after it started.
      const history = load.history.map((operation) =>
        operation.endedAt < startedAt ? operation : { ...operation, outcome: undefined },
      );
      expect(violationsOf(history, restored)).to.deep.equal([]);

      const restarted = serve(folder, { DATABASE_URL: target.url });
      expect((await create(await restarted.port(), { id: 2n ** 62n, name: 'new' }))?.outcome).to.equal(200);
      expect(await restarted.stop()).to.equal(0);
      expect((await target.checkIntegrity?.()) ?? []).to.deep.equal([]);
    });
  });
}
