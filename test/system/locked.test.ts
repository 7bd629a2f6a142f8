import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { endProgramsAfterEach } from '../support/executable.js';
import { testOrSoak } from '../support/soak.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { CLIENTS, Load } from './load.js';

/** How long another program locks the file. */
const LOCKED_MS = testOrSoak(2000, 10_000);

describe(`While another program locks the file for ${LOCKED_MS} ms under load from ${CLIENTS} clients`, () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  for (const { what, file, timeoutMs, outcomes } of [
    {
      what: 'every create gets 200 or 409 if STORAGE_TIMEOUT is longer',
      file: 'long-timeout.db',
      timeoutMs: 10 * LOCKED_MS,
      outcomes: conclusive,
    },
    {
      what: 'creates get 503 after STORAGE_TIMEOUT if it is shorter, and no plant is lost',
      file: 'short-timeout.db',
      timeoutMs: LOCKED_MS / 4,
      outcomes: [...conclusive, 50301],
    },
  ]) {
    it(what, async () => {
      const environment = { DATABASE_URL: `sqlite:${file}`, STORAGE_TIMEOUT: `${timeoutMs}ms`, LOG_LEVEL: 'fatal' };
      const service = serve(folder, environment);
      const port = await service.port();
      const load = new Load();
      load.start(port);
      await load.waitForOutcomes(CLIENTS, 200);

      const other = await SqliteFile.open(join(folder, file));
      await other.exec('PRAGMA busy_timeout = 60000; BEGIN EXCLUSIVE');
      const lockedAt = performance.now();
      await setTimeout(LOCKED_MS);
      await other.exec('ROLLBACK');
      await other.close();
      await load.waitForOutcomes(2 * CLIENTS, 200);
      await load.stop();

      expect(load.outcomes()).to.have.members(outcomes);
      const rejected = load.history.filter(({ sentAt, outcome }) => sentAt > lockedAt && outcome === 50301);
      for (const { sentAt, endedAt } of rejected) expect(endedAt - sentAt, 'ms').to.be.at.least(timeoutMs * 0.9);
      await load.retryUnknown(port);
      load.expectNoViolations(await sqliteStore(join(folder, file)).readPlants());
    });
  }
});
