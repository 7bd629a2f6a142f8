import { mock } from 'node:test';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ServiceContainer } from '../../composition/service-container.js';
import { services } from '../../composition/services.js';
import { catchError } from '../support/catch-error.js';

describe('The container of the service', () => {
  it('closes parts in the opposite order, goes on when one fails, writes the log, and closes what plugins have opened', async () => {
    const container = new ServiceContainer(1);
    const calls: string[] = [];
    container.onClose('storage', async () => calls.push('storage'));
    container.onClose('server', () => Promise.reject(new Error('no water')));
    const flush = (done: () => void) => {
      calls.push('flush');
      done();
    };
    container
      .bind(services.LogDestination)
      .toConstantValue({ write() {}, flush })
      .onDeactivation(() => void calls.push('log'));
    expect(await catchError(container.close())).to.match(/no water/);
    expect(calls).to.deep.equal(['storage', 'flush', 'flush', 'log']);
  });

  it('names the parts that fail or exceed the limit', async () => {
    const container = new ServiceContainer(60_000);
    container.onClose('management', () => new Promise(() => {}));
    container.onClose('storage', () => timers.setTimeout(59_000));
    container.onClose('server', () => Promise.reject(new Error('no water')));
    mock.timers.enable({ apis: ['setTimeout'] });
    const closing = container.closeParts();
    // The limit of each part is what is left of 61 s in real time.
    for (const second of [59, 61]) {
      await timers.setImmediate();
      mock.timers.tick(second * 1000);
    }
    expect([...(await closing).keys()]).to.deep.equal(['server', 'management']);
    mock.timers.reset();
  });

  it('creates once what a plugin binds', async () => {
    const container = new ServiceContainer(1);
    container.bind<object>('pot').toDynamicValue(() => ({}));
    expect(await container.getAsync('pot')).to.equal(await container.getAsync('pot'));
  });
});
