import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../support/catch-error.js';
import { create, serve } from '../../support/client.js';
import { postgresEngine, sqliteStore } from '../../support/engines.js';
import { commandsUnder, runCommands } from '../../support/guide.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';

for (const heading of ['SQLite', 'Any engine']) {
  describe(`A backup according to the guide: ${heading}`, () => {
    const folder = temporaryFolder();
    const [backUp, restore] = commandsUnder(heading);
    const postgres = heading === 'Any engine' ? postgresEngine.stores() : undefined;

    it('has every plant acknowledged before it, can be restored, and stays if the next backup fails', async function () {
      skipUnlessInstalled(this, 'sqlite3', '--version');
      const [DATA, BACKUP] = [join(folder, 'data'), join(folder, 'backup')];
      mkdirSync(DATA);
      const store = sqliteStore(join(DATA, 'plants.db'));
      const service = serve(folder, { DATABASE_URL: store.url, LOG_LEVEL: 'error' });
      const load = await Load.on(await service.port(), 2000);

      const startedAt = performance.now();
      await runCommands(backUp, folder, { DATA, BACKUP, DATABASE_URL: store.url });
      expect(load.history.at(-1)?.sentAt, 'created during the backup').to.be.above(startedAt);
      await load.waitForOutcomes(2 * CLIENTS, 200);
      expect(load.outcomes(), 'outcomes during the backup').to.have.members(conclusive);
      service.kill('SIGKILL');
      await load.stop();

      const backup = readFileSync(BACKUP);
      const failing = runCommands(backUp, folder, { DATA: 'none', BACKUP, DATABASE_URL: 'sqlite:none/plants.db' });
      expect(await catchError(failing)).to.be.instanceOf(Error);
      expect(readFileSync(BACKUP).equals(backup)).to.equal(true);

      const target = (await postgres?.create()) ?? store;
      await runCommands(restore, folder, { DATA, BACKUP, DATABASE_URL: target.url });
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
