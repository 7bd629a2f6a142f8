import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve } from '../../support/client.js';
import { temporaryFolder } from '../../support/temporary.js';
import { commandsUnder, run } from './guide.js';

describe('An upgrade according to the guide', () => {
  const folder = temporaryFolder();
  const [preview] = commandsUnder('Before the upgrade');

  it('previews the schema changes, even while the service runs', async () => {
    const environment = { DATABASE_URL: `sqlite:${join(folder, 'plants.db')}` };
    expect(await run(preview, folder, environment)).to.equal('would apply 001_plants\n');
    const service = serve(folder, environment);
    const port = await service.port();
    expect(await run(preview, folder, environment)).to.equal('the schema is up to date\n');
    expect((await create(port, { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
  });
});
