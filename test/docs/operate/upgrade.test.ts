import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { endProgramsAfterEach } from '../../support/executable.js';
import { temporaryFolder } from '../../support/temporary.js';
import { create, outcomeOf, serve } from '../../system/client.js';
import { SqliteFile } from '../../system/sqlite-file.js';
import { commandsUnder, run } from './guide.js';

describe('An upgrade, by the guide', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const [look] = commandsUnder('Before it');

  it('says beforehand what it would do to the schema, also while the service runs', async () => {
    const environment = { DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` };
    expect(await run(look, folder, environment)).to.equal('would apply 001_plants\n');
    const service = serve(folder, environment);
    const port = await service.port();
    expect(await run(look, folder, environment)).to.equal('the schema is up to date\n');
    expect(outcomeOf(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
  });

  it('rolled back to a version that does not know the schema, starts nothing and says why', async () => {
    const path = join(folder, 'newer.db');
    const environment = { DATABASE_URL: `sqlite:${path}` };
    await serve(folder, environment).port();
    const file = await SqliteFile.open(path);
    await file.exec(`INSERT INTO plant_store_migrations (name, batch) VALUES ('002_newer', 2)`);
    await file.close();
    const older = serve(folder, environment);
    expect(await older.exited()).to.equal(1);
    expect(older.stderr).to.match(/^plant-store: cannot open .*: its schema is newer .*\(it has 002_newer\)/);
  });
});
