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

  it('closes the storage when a command ends', async () => {
    const storage = await run(async (opened) => opened);
    expect(await catchError(storage.ready())).to.match(/closed/);
  });

  it('rejects if the storage fails to close, but with the error of the command if that fails, too', async () => {
    const close = () => Promise.reject(new Error('no water'));
    expect(await catchError(run(async (storage) => Object.assign(storage, { close })))).to.match(/no water/);
    const fail = async (storage: Storage) => {
      Object.assign(storage, { close });
      throw new Error('no soil');
    };
    expect(await catchError(run(fail))).to.match(/no soil/);
  });
});
