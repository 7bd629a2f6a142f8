import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve, toOutcome } from '../../support/client.js';
import { endProgramsAfterEach } from '../../support/executable.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { commandsUnder, run } from './guide.js';

describe('An upgrade according to the guide', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const [preview] = commandsUnder('Before the upgrade');

  it('previews the schema changes, even while the service runs', async () => {
    const environment = { DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` };
    expect(await run(preview, folder, environment)).to.equal('would apply 001_plants\n');
    const service = serve(folder, environment);
    const port = await service.port();
    expect(await run(preview, folder, environment)).to.equal('the schema is up to date\n');
    expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
  });

  it('after a downgrade, a version that does not know the schema exits and reports the reason', async () => {
    const path = join(folder, 'newer.db');
    const environment = { DATABASE_URL: `sqlite:${path}` };
    await serve(folder, environment).port();
    const file = await SqliteFile.open(path);
    await file.exec(`INSERT INTO plant_store_migrations (name, batch) VALUES ('002_newer', 2)`);
    await file.close();
    const older = serve(folder, environment);
    expect(await older.exited()).to.equal(1);
    expect(older.stderr).to.match(
      /^plant-store: cannot open .*: its schema has 002_newer; start a newer version of plant-store$/m,
    );
  });
});
