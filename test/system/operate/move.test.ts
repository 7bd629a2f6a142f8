import { expect } from 'chai';
import { describe, it } from 'mocha';
import { postgresEngine, sqliteEngine } from '../../support/engines.js';
import { commandsUnder, runCommands } from '../../support/guide.js';
import { toPlant } from '../../support/plants.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('A store that moves from SQLite to PostgreSQL according to the guide', () => {
  const folder = temporaryFolder();
  const [from, to] = [sqliteEngine.stores(), postgresEngine.stores()];

  it('has every plant', async function () {
    skipUnlessInstalled(this, 'bash', '--version');
    const [store, target] = [await from.create(), await to.create()];
    const plants = [1n, 2n ** 53n + 1n].map((id) => toPlant({ id, name: 'Crème 🌵' }));
    await (await from.open(store)).add(plants);
    const [move = ''] = commandsUnder('Move a store', 'docs/databases.md');
    const commands = move
      .replace('sqlite:./plants.db', store.url)
      .replace('postgres://garden@db.example/plants', `'${target.url}'`);
    expect(commands).to.include(store.url).and.to.include(target.url);
    await runCommands(`bash <<'END'\n${commands}END\n`, folder, {});
    expect(await target.readPlants())
      .to.deep.equal(await store.readPlants())
      .and.to.have.lengthOf(2);
  });
});
