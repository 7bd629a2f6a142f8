import { once } from 'node:events';
import { createServer } from 'node:net';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import type { Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig, services, start } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { create, exchange, request, TOKEN } from '../support/client.js';
import { toPlant } from '../support/plants.js';
import { portOf } from '../support/port.js';
import { waitUntil } from '../support/wait-until.js';

const SETTINGS = { PORT: '0', MANAGEMENT_PORT: '0', DATABASE_URL: 'recorded:', ACCESS_TOKENS: TOKEN };

/** A storage in memory and a log, which record what the service does. A write waits until `finish` is called. */
class Recorder extends MemoryPlantRepository {
  readonly calls: string[] = [];
  readonly lines: Readonly<Record<string, unknown>>[] = [];
  readonly warnings = ['no sync'];
  finish: () => void = () => {};
  readonly #finished = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  override async add(plants: readonly Plant[]) {
    await this.#finished;
    this.calls.push(`add ${plants.length}`);
    return super.add(plants);
  }

  override async close() {
    this.calls.push('close');
  }

  start(environment: Readonly<Record<string, string>> = {}) {
    const open = () => {
      this.calls.push('open');
      return this;
    };
    const write = (line: string) => void this.lines.push(JSON.parse(line));
    return start(readConfig({ ...SETTINGS, ...environment }), (container) => {
      container.bind(services.OpenStorage).toConstantValue(open).whenNamed('recorded');
      container.rebind(services.LogDestination).toConstantValue({ write });
    });
  }
}

describe('start', () => {
  it('gives the HTTP adapter its settings, and counts the requests in flight', async () => {
    const recorder = new Recorder();
    const settings = { BODY_LIMIT: '1kb', DOCS: 'off', ACCESS_LOG: 'off' };
    const { url, managementUrl, stop } = await recorder.start(settings);
    const port = Number(new URL(url).port);
    expect(await create(port, { id: 1n, name: 'x'.repeat(1024) })).to.include({ outcome: 41301 });
    expect(await exchange(port, request('GET /docs'))).to.include({ outcome: 40401 });
    const held = create(port, { id: 1n, name: 'Monstera' });
    await waitUntil('the create is in flight', async () => {
      const metrics = await (await fetch(`${managementUrl}/metrics`)).text();
      return /_requests_in_flight 1\n/.test(metrics) && /_in_flight_bytes [1-9]/.test(metrics);
    });
    recorder.finish();
    expect(await held).to.include({ outcome: 200 });
    await stop();
    expect(recorder.lines.map(({ msg }) => msg)).to.deep.equal(['started', 'no sync', 'stopped']);
  });

  it('tells whether the service is ready', async () => {
    const recorder = new Recorder();
    const { isReady, stop } = await recorder.start();
    expect(await isReady()).to.equal(true);
    recorder.ready = () => Promise.reject(new Error('no water'));
    expect(await isReady()).to.equal(false);
    await stop();
  });

  it('names the setting if it cannot listen, and closes the storage', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const port = `${portOf(other)}`;
    for (const [variable, value] of Object.entries({ PORT: port, MANAGEMENT_PORT: port, HOST: '192.0.2.1' })) {
      const recorder = new Recorder();
      const error = await catchError(recorder.start({ [variable]: value }));
      expect(error)
        .to.have.property('message')
        .that.matches(RegExp(`^${variable}: listen EADDR.*${value}$`));
      expect(recorder.calls).to.deep.equal(['open', 'close']);
    }
    other.close();
  });

  it('opens no storage if a credential is required', async () => {
    const recorder = new Recorder();
    expect(await catchError(recorder.start({ ACCESS_TOKENS: '', HOST: '0.0.0.0' }))).to.match(/loopback/);
    expect(recorder.calls).to.deep.equal([]);
  });
});

describe('stop', () => {
  it('waits for the creates in group commit, and only then closes the storage, once', async () => {
    const recorder = new Recorder();
    const { container, stop } = await recorder.start();
    const writer = container.get(services.PlantWriter);
    const first = writer.add([toPlant({ id: 1n, name: '' })]);
    await new Promise(setImmediate);
    const second = writer.add([toPlant({ id: 2n, name: '' }), toPlant({ id: 3n, name: '' })]);
    const stopped = [stop(), stop()];
    // Time for the server to stop, and for a storage that is not waited for to close.
    for (let turn = 0; turn < 100; turn++) await new Promise(setImmediate);
    expect(recorder.calls).not.to.include('close');
    recorder.finish();
    expect(await Promise.all(stopped)).to.deep.equal([true, true]);
    expect((await Promise.all([first, second])).flat()).to.deep.equal(Array(3).fill({ kind: 'added' }));
    expect(recorder.calls).to.deep.equal(['open', 'add 1', 'add 2', 'close']);
  });

  it('logs the part that fails to close, and resolves to false if plants may be lost', async () => {
    for (const [part, closed] of [
      ['storage', false],
      ['group commit', false],
      ['management', true],
    ] as const) {
      const recorder = new Recorder();
      const { container, stop } = await recorder.start();
      container.onClose(part, () => Promise.reject(new Error('no water')));
      expect(await stop(), part).to.equal(closed);
      const [failure, stopped] = recorder.lines.slice(-2);
      expect(failure).to.include({ level: 'error', part, msg: 'a part failed to close' });
      expect(failure).to.have.nested.property('err.message', 'no water');
      expect(stopped).to.include({ level: 'info', msg: 'stopped', closed });
    }
  });
});
