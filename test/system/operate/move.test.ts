import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { postgresEngine, sqliteStore } from '../../support/engines.js';
import { commandsUnder, runCommands } from '../../support/guide.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { Load } from '../load.js';

describe('A store that moves from SQLite to PostgreSQL according to the guide', () => {
  const folder = temporaryFolder();
  const stores = postgresEngine.stores();

  it('has every plant, also those created while the first copy was made', async function () {
    skipUnlessInstalled(this, 'uniq', '--version');
    const [copy = '', copyRest = ''] = commandsUnder('From SQLite to a server', 'docs/scale.md');
    const { url: DATABASE_URL } = sqliteStore(join(folder, 'plants.db'));
    const target = await stores.create();
    writeFileSync(join(folder, 'database-url'), target.url);
    const follow = (commands: string) =>
      runCommands(commands.replaceAll('/etc/plant-store', folder), folder, { DATABASE_URL });

    const service = serve(folder, { DATABASE_URL, LOG_LEVEL: 'error' });
    const load = await Load.on(await service.port(), 2000);
    const before = load.history.length;
    await follow(copy);
    await load.waitForOutcomes(100, 200);
    expect(load.history.length, 'created meanwhile').to.be.above(before);
    await load.stop();
    await service.stop();
    await follow(copyRest);

    const moved = serve(folder, { DATABASE_URL: target.url });
    await load.expectNothingLost(await moved.port(), target);
    expect(load.outcomes()).to.have.members([200, 40901, 40902]);
    await moved.stop();
  });
});
