import { expect } from 'chai';
import { it } from 'mocha';
import { withContainer } from '../../../composition/cli/with-container.js';
import { readConfig, type Storage, services } from '../../../composition/index.js';
import { catchError } from '../../support/catch-error.js';

it('withContainer closes the storage when a command ends, also if it fails', async () => {
  const opened: Storage[] = [];
  const command = withContainer(readConfig({ DATABASE_URL: 'memory:' }), { readOnly: false }, async (container) => {
    opened.push(await container.getAsync(services.Storage));
    throw new Error('no soil');
  });
  expect(await catchError(command)).to.match(/no soil/);
  for (const storage of opened) expect(await catchError(storage.ready())).to.match(/closed/);
  expect(opened).to.have.lengthOf(1);
});
