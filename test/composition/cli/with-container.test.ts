import { expect } from 'chai';
import { describe, it } from 'mocha';
import { withContainer } from '../../../composition/cli/with-container.js';
import { readConfig, type Storage, services } from '../../../composition/index.js';
import { catchError } from '../../support/catch-error.js';

describe('withContainer', () => {
  const run = <T>(use: (storage: Storage) => Promise<T>) =>
    withContainer(readConfig({ DATABASE_URL: 'memory:' }), { readOnly: false }, async (container) =>
      use(await container.getAsync(services.Storage)),
    );

  it('closes the storage when a command ends, and rejects if that fails', async () => {
    const storage = await run(async (opened) => opened);
    expect(await catchError(storage.ready())).to.match(/closed/);
    const unclosable = async (opened: Storage) =>
      Object.assign(opened, { close: () => Promise.reject(new Error('no water')) });
    expect(await catchError(run(unclosable))).to.match(/no water/);
  });

  it('rejects with the error of the command, even if closing fails, too', async () => {
    const command = run(async (opened) => {
      opened.close = () => Promise.reject(new Error('no water'));
      throw new Error('no soil');
    });
    expect(await catchError(command)).to.match(/no soil/);
  });
});
