import dns from 'node:dns';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { mock } from 'node:test';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import type { Plant } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { type Plugin, readConfig, services, start } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { portOf } from '../support/port.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { waitUntil } from '../support/wait-until.js';

const SETTINGS = { PORT: '0', MANAGEMENT_PORT: '0', DATABASE_URL: 'recorded:', ACCESS_TOKENS: 'secret' };

const HEADERS = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };

/** The head of a create, whose response is 100 Continue. */
const STALLED_CREATE = `POST /plants HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n`;

/** A storage in memory whose plugin records its calls and the log. Its first write waits until `finish` is called. */
class Recorder extends MemoryPlantRepository {
  readonly calls: string[] = [];
  readonly lines: Readonly<Record<'level' | 'msg' | 'check', string> & { err?: Error }>[] = [];
  warnings: readonly string[] = [];
  finish: () => void = () => {};
  readonly #isFinished = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  override async add(plants: readonly Plant[]) {
    await this.#isFinished;
    this.calls.push(`add ${plants.length}`);
    return super.add(plants);
  }

  override async close() {
    this.calls.push('close');
  }

  /** Starts a service on it. */
  start(environment: Readonly<Record<string, string>> = {}, plugin: Plugin = () => {}) {
    const open = () => {
      this.calls.push('open');
      return this;
    };
    const write = (line: string) => void this.lines.push(JSON.parse(line));
    const flush = (done: () => void) => {
      this.calls.push('flush');
      done();
    };
    return start(readConfig({ ...SETTINGS, ...environment }), (container, config) => {
      container.bind(services.OpenStorage).toConstantValue(open).whenNamed('recorded');
      container.rebind(services.LogDestination).toConstantValue({ write, flush });
      return plugin(container, config);
    });
  }
}

describe('start', () => {
  it('gives the HTTP adapter its settings, and counts the requests in flight', async () => {
    const recorder = new Recorder();
    const limits = { BODY_LIMIT: '1kb', MAX_IN_FLIGHT_BYTES: '8kb', REQUEST_TIMEOUT: '1s', HEADERS_TIMEOUT: '1s' };
    const service = await recorder.start({ ...limits, DOCS: 'off', ACCESS_LOG: 'off' });
    const port = Number(new URL(service.url).port);
    const bodyOf = (length: number) => `{"id":1,"name":"${'x'.repeat(length)}"}`;
    const send = (body: string) => exchange(port, request('POST /plants', HEADERS, body));
    expect(await send(bodyOf(1024))).to.include({ outcome: 41301 });
    const held = send(bodyOf(500));
    await waitUntil('the create is in flight', async () => {
      const metrics = await (await fetch(`${service.managementUrl}/metrics`)).text();
      return metrics.includes('_in_flight 1\n') && metrics.includes(`_in_flight_bytes ${8 * bodyOf(500).length}\n`);
    });
    expect(await send(bodyOf(600))).to.include({ outcome: 50302 });
    recorder.finish();
    expect(await held).to.include({ outcome: 200 });
    expect(await exchange(port, request('GET /docs'))).to.include({ outcome: 40401 });
    expect(await exchange(port, STALLED_CREATE.slice(0, 40))).to.include({ outcome: 40801 });
    await service.stop();
    expect(recorder.lines.map(({ msg }) => msg)).to.deep.equal(['started', 'stopped']);
  });

  it('tells whether the service is ready, as /readyz does, and logs why not', async () => {
    const recorder = new Recorder();
    let isRunning = true;
    const pump = async () => {
      if (!isRunning) throw new Error('it stands still');
    };
    const { managementUrl, isReady, stop } = await recorder.start({}, (container) => {
      container.bind(services.ReadinessCheck).toConstantValue({ name: 'pump', check: pump });
    });
    const readiness = async () => [await isReady(), (await fetch(`${managementUrl}/readyz`)).status];
    expect(await readiness()).to.deep.equal([true, 200]);
    isRunning = false;
    expect(await readiness()).to.deep.equal([false, 503]);
    isRunning = true;
    recorder.ready = () => Promise.reject(new Error('no water'));
    expect(await readiness()).to.deep.equal([false, 503]);
    const lines = recorder.lines.slice(1).map(({ level, msg, check, err }) => [level, msg, check, err?.message]);
    expect(lines).to.have.deep.members([
      ['warn', 'not ready', 'pump', 'it stands still'],
      ['info', 'ready again', 'pump', undefined],
      ['warn', 'not ready', 'storage', 'no water'],
    ]);
    await stop();
  });

  it('logs what has started and what the storage warns of, and resolves to the addresses on which it listens', async () => {
    const recorder = Object.assign(new Recorder(), { warnings: ['no sync'] });
    // A name may have several addresses.
    const { url, managementUrl, stop } = await recorder.start({
      HOST: 'localhost',
      BASE_PATH: '/garden',
      ACCESS_LOG: 'off',
    });
    expect(url).to.match(/^http:\/\/(127\.0\.0\.1|\[::1\]):\d+\/garden$/);
    expect((await fetch(`${url}/openapi.json`)).status).to.equal(200);
    expect(await stop()).to.equal(true);
    for (const address of [`${url}/openapi.json`, `${managementUrl}/healthz`])
      expect(await catchError(fetch(address)), address).to.be.an('error');
    const storage = 'recorded';
    expect(recorder.lines).to.have.lengthOf(3);
    expect(recorder.lines[0]).to.include({ level: 'info', msg: 'started', storage, url, management: managementUrl });
    expect(recorder.lines[1]).to.include({ level: 'warn', storage, msg: 'no sync' });
    expect(recorder.lines[2]).to.include({ level: 'info', msg: 'stopped', closed: true });
  });

  it('has no management listener and no metrics if it is off', async () => {
    const { managementUrl, container, stop } = await new Recorder().start({ MANAGEMENT_PORT: 'off' });
    expect([managementUrl, container.isBound(services.Metrics)]).to.deep.equal([undefined, false]);
    await stop();
  });

  it('rejects and closes the storage if it cannot listen, and names the setting', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const inUse = `listen EADDRINUSE: address already in use 127.0.0.1:${portOf(other)}`;
    for (const [variable, value, reason] of [
      ['PORT', `${portOf(other)}`, inUse],
      ['MANAGEMENT_PORT', `${portOf(other)}`, inUse],
      ['HOST', '192.0.2.1', 'listen EADDRNOTAVAIL: address not available 192.0.2.1'],
      ['MANAGEMENT_HOST', 'garden.invalid', 'getaddrinfo E\\w+ garden.invalid'],
    ] as const) {
      const recorder = new Recorder();
      expect(await catchError(recorder.start({ [variable]: value }))).to.match(
        RegExp(`^Error: ${variable}: ${reason}$`),
      );
      expect(recorder.calls).to.include('close');
    }
    other.close();
  });

  it('names HOST, and not PORT, if resolving it needs a permission', async () => {
    const error = Object.assign(new Error('getaddrinfo EACCES garden'), { code: 'EACCES', syscall: 'getaddrinfo' });
    const lookup = mock.method(dns, 'lookup', (...args: readonly unknown[]) => Object(args.at(-1))(error));
    try {
      expect(await catchError(new Recorder().start({ HOST: 'garden', MANAGEMENT_PORT: 'off' }))).to.match(
        /^Error: HOST: getaddrinfo EACCES/,
      );
    } finally {
      lookup.mock.restore();
    }
  });

  it('writes the log and closes the storage if another part cannot be created', async () => {
    const recorder = new Recorder();
    const failing: Plugin = (container) => {
      container.rebind(services.RequestListener).toDynamicValue(() => Promise.reject(new Error('no framework')));
    };
    expect(await catchError(recorder.start({}, failing))).to.match(/no framework/);
    expect(recorder.calls).to.deep.equal(['open', 'close', 'flush', 'flush']);
  });

  it('opens no storage if a credential is required', async () => {
    const recorder = new Recorder();
    expect(await catchError(recorder.start({ ACCESS_TOKENS: '', HOST: '0.0.0.0' }))).to.match(/loopback/);
    expect(recorder.calls).not.to.include('open');
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
    expect(recorder.calls.filter((call) => call !== 'flush')).to.deep.equal(['open', 'add 1', 'add 2', 'close']);
  });

  it('resolves to true after SHUTDOWN_TIMEOUT if a client stalls', async () => {
    const { url, stop } = await new Recorder().start({ SHUTDOWN_TIMEOUT: '100ms' });
    const client = await RawClient.connect(Number(new URL(url).port));
    await client.send(STALLED_CREATE).readResponse();
    expect(await stop()).to.equal(true);
    await client.ended();
  });

  for (const { title, part, expected } of [
    { title: 'resolves to false and logs the failure if the storage fails to close', part: 'storage', expected: false },
    { title: 'resolves to true and logs the failure if another part does', part: 'management', expected: true },
  ] as const) {
    it(title, async () => {
      const recorder = new Recorder();
      const { container, stop } = await recorder.start();
      container.onClose(part, () => Promise.reject(new Error('no water')));
      expect(await stop()).to.equal(expected);
      const [, failure, stopped] = recorder.lines;
      expect(failure).to.include({ level: 'error', part, msg: 'a part failed to close' });
      expect(failure).to.have.nested.property('err.message', 'no water');
      expect(stopped).to.include({ msg: 'stopped', closed: expected });
    });
  }
});
