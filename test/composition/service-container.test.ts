import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ServiceContainer } from '../../composition/service-container.js';
import { services } from '../../composition/services.js';
import { catchError } from '../support/catch-error.js';

describe('The container of the service', () => {
  /** Returns a container with a storage, its server, and the log of a plugin, and what it has closed. */
  const create = (closeServer: () => Promise<unknown>, closeStorage: () => Promise<unknown> = async () => {}) => {
    const container = new ServiceContainer(1);
    const closed: string[] = [];
    const add = (part: 'storage' | 'server', close: () => Promise<unknown>) =>
      container.onClose(part, () => {
        closed.push(part);
        return close();
      });
    add('storage', closeStorage);
    add('server', closeServer);
    const flush = (done: () => void) => {
      closed.push('flush');
      done();
    };
    container
      .bind(services.LogDestination)
      .toConstantValue({ write() {}, flush })
      .onDeactivation(() => void closed.push('log'));
    return { container, closed };
  };

  it('closes parts in the opposite order of their opening, writes the log, closes what plugins have opened, and goes on when one fails', async () => {
    const { container, closed } = create(() => Promise.reject(new Error('no water')));
    expect(await catchError(container.close())).to.match(/no water/);
    expect(closed).to.deep.equal(['server', 'storage', 'flush', 'flush', 'log']);
    await container.close();
    expect(closed).to.have.lengthOf(5);
  });

  it('names the parts that fail, or do not close in time', async () => {
    const { container } = create(
      () => Promise.reject(new Error('no water')),
      () => new Promise(() => {}),
    );
    const failures = await container.closeParts();
    expect([...failures.keys()]).to.deep.equal(['server', 'storage']);
    expect(failures.get('storage')).to.match(/did not close in time/);
  });

  it('creates once what a plugin binds', async () => {
    const { container } = create(async () => {});
    container.bind<object>('pot').toDynamicValue(() => ({}));
    expect(await container.getAsync('pot')).to.equal(await container.getAsync('pot'));
  });
});
