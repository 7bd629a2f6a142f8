import { mock } from 'node:test';
import timers from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { ServiceContainer } from '../../composition/service-container.js';
import { services } from '../../composition/services.js';
import { catchError } from '../support/catch-error.js';

describe('The container of the service', () => {
  it('creates once what a plugin binds, and closes it even if a part fails, after writing the log', async () => {
    const container = new ServiceContainer(1);
    const calls: string[] = [];
    const flush = (done: () => void) => {
      calls.push('flush');
      done();
    };
    const binding = container.bind(services.LogDestination).toDynamicValue(() => ({ write() {}, flush }));
    binding.onDeactivation(() => void calls.push('closed'));
    expect(await container.getAsync(services.LogDestination)).to.equal(container.get(services.LogDestination));
    container.onClose('storage', () => Promise.reject(new Error('no water')));
    expect(await catchError(container.close())).to.match(/no water/);
    expect(calls[0]).to.equal('flush');
    expect(calls.at(-1)).to.equal('closed');
  });

  it('closes every part, and names those that fail or exceed the limit', async () => {
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
});
