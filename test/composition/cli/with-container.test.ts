import { expect } from 'chai';
import { describe, it } from 'mocha';
import { withContainer } from '../../../composition/cli/with-container.js';
import { readConfig, services } from '../../../composition/index.js';
import { catchError } from '../../support/catch-error.js';

describe('withContainer', () => {
  it('closes the storage when the command ends, and also if it fails', async () => {
    const config = readConfig({ DATABASE_URL: 'memory:' });
    const open = await withContainer(config, (container) => container.getAsync(services.Storage));
    expect(await catchError(open.ready())).to.match(/closed/);
    let close = (): unknown => undefined;
    const failing = withContainer(config, async (container) => {
      const storage = await container.getAsync(services.Storage);
      close = () => storage.ready();
      throw new Error('no soil');
    });
    expect(await catchError(failing)).to.match(/no soil/);
    expect(await catchError(Promise.resolve(close()))).to.match(/closed/);
  });
});
