import { once } from 'node:events';
import { createServer } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { type Plugin, readConfig, services, start } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { portOf } from '../support/port.js';
import { RawClient } from '../support/raw-http.js';

const SETTINGS = {
  PORT: '0',
  MANAGEMENT_PORT: '0',
  DATABASE_URL: 'memory:',
  ACCESS_TOKENS: 'secret',
  LOG_LEVEL: 'silent',
};
const startWith = (environment: Readonly<Record<string, string>> = {}, plugin?: Plugin) =>
  start(readConfig({ ...SETTINGS, ...environment }), plugin);

/** A storage in memory that records its calls, and whose first write waits until `finish` is called. */
class RecordedStorage extends MemoryPlantRepository {
  readonly calls: string[] = [];
  finish: () => void = () => {};
  readonly #isFinished = new Promise<void>((resolve) => {
    this.finish = resolve;
  });

  override async add(plants: Parameters<MemoryPlantRepository['add']>[0]) {
    await this.#isFinished;
    this.calls.push(`add ${plants.length}`);
    return super.add(plants);
  }

  override async close() {
    this.calls.push('close');
  }

  /** Binds it to the scheme of `DATABASE_URL`. */
  readonly plugin: Plugin = (container) => {
    container
      .bind(services.OpenStorage)
      .toConstantValue(() => this)
      .whenNamed('recorded');
  };
}

/** Returns a plugin that replaces the destination of the log, and the parsed lines. */
function recordLog() {
  const lines: { msg?: string; err?: { message: string } }[] = [];
  const plugin: Plugin = (container) => {
    container.rebind(services.LogDestination).toConstantValue({ write: (line) => void lines.push(JSON.parse(line)) });
  };
  return { lines, plugin };
}

describe('start', () => {
  it('resolves to the addresses of both listeners', async () => {
    const { url, managementUrl, stop } = await startWith({ BASE_PATH: '/garden' });
    expect((await fetch(`${url}/openapi.json`)).status).to.equal(200);
    expect(await (await fetch(`${managementUrl}/readyz`)).json()).to.include({ status: 'ready' });
    expect(await stop()).to.equal(true);
    expect(await catchError(fetch(url))).to.be.an('error');
    expect(await catchError(fetch(`${managementUrl}/healthz`))).to.be.an('error');
  });

  it('rejects and closes the storage if the address of a listener is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    for (const variable of ['PORT', 'MANAGEMENT_PORT']) {
      const storage = new RecordedStorage();
      const settings = { DATABASE_URL: 'recorded:', [variable]: `${portOf(other)}` };
      expect(await catchError(startWith(settings, storage.plugin)), variable)
        .to.have.property('message')
        .that.equals(`listen EADDRINUSE: address already in use 127.0.0.1:${portOf(other)}`);
      expect(storage.calls).to.deep.equal(['close']);
    }
    other.close();
  });

  it('writes the log and closes the storage if another part cannot be created', async () => {
    const storage = new RecordedStorage();
    let isFlushed = false;
    const flush = (done: () => void) => {
      isFlushed = true;
      done();
    };
    const failing: Plugin = (container) => {
      storage.plugin(container);
      container.rebind(services.LogDestination).toConstantValue({ write: () => {}, flush });
      container.rebind(services.RequestListener).toDynamicValue(() => Promise.reject(new Error('no framework')));
    };
    expect(await catchError(startWith({ DATABASE_URL: 'recorded:' }, failing))).to.match(/no framework/);
    expect(isFlushed).to.equal(true);
    expect(storage.calls).to.deep.equal(['close']);
  });

  it('opens no storage if a setting of the tokens is invalid', async () => {
    let opened = 0;
    const counting: Plugin = (container) => {
      container.onActivation(services.Storage, (_, storage) => {
        opened++;
        return storage;
      });
    };
    expect(await catchError(startWith({ ACCESS_TOKENS: '', HOST: '0.0.0.0' }, counting))).to.match(/loopback/);
    expect(opened).to.equal(0);
  });

  it('logs what has started and what the storage warns of, without metrics if MANAGEMENT_PORT is off', async () => {
    const { lines, plugin } = recordLog();
    const { url, managementUrl, container, stop } = await startWith(
      { LOG_LEVEL: 'info', MANAGEMENT_PORT: 'off' },
      plugin,
    );
    expect(managementUrl).to.equal(undefined);
    expect(container.isBound(services.Metrics)).to.equal(false);
    await stop();
    expect(lines.map(({ msg }) => msg)).to.deep.equal(['started', 'stopped']);
    expect(lines[0]).to.include({ level: 'info', storage: 'memory:', url });
    const warned = recordLog();
    const warning: Plugin = (container) => {
      warned.plugin(container);
      container.onActivation(services.Storage, (_, storage) => Object.assign(storage, { warning: 'no sync' }));
    };
    await (await startWith({ LOG_LEVEL: 'info' }, warning)).stop();
    expect(warned.lines[1]).to.include({ level: 'warn', storage: 'memory:', msg: 'no sync' });
  });
});

describe('stop', () => {
  it('waits for the creates in group commit, and only then closes the storage, once', async () => {
    const storage = new RecordedStorage();
    const { container, stop } = await startWith({ DATABASE_URL: 'recorded:' }, storage.plugin);
    const repository = container.get(services.PlantRepository);
    const first = repository.add([toPlant({ id: 1n, name: '' })]);
    await new Promise(setImmediate);
    const second = repository.add([toPlant({ id: 2n, name: '' }), toPlant({ id: 3n, name: '' })]);
    const stopped = [stop(), stop()];
    storage.finish();
    expect(await Promise.all(stopped)).to.deep.equal([true, true]);
    expect(await first).to.deep.equal([{ kind: 'added' }]);
    expect(await second).to.deep.equal([{ kind: 'added' }, { kind: 'added' }]);
    expect(storage.calls).to.deep.equal(['add 1', 'add 2', 'close']);
  });

  it('resolves to true after SHUTDOWN_TIMEOUT if a client stalls', async () => {
    const { url, stop } = await startWith({ SHUTDOWN_TIMEOUT: '100ms' });
    const client = await RawClient.connect(Number(new URL(url).port));
    const head = 'POST /plants HTTP/1.1\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n';
    await client.send(`${head}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n`).readResponse();
    expect(await stop()).to.equal(true);
    await client.ended();
  });

  it('gives the storage the rest of SHUTDOWN_TIMEOUT to close', async () => {
    let begin = () => {};
    const isClosing = new Promise<void>((resolve) => {
      begin = resolve;
    });
    const close = () => {
      begin();
      return new Promise((resolve) => setTimeout(resolve, 5000));
    };
    const { stop } = await startWith({ SHUTDOWN_TIMEOUT: '60s' }, (container) => {
      container.onActivation(services.Storage, (_, storage) => Object.assign(storage, { close }));
    });
    mock.timers.enable({ apis: ['setTimeout'] });
    const stopped = stop();
    await isClosing;
    mock.timers.tick(5000);
    mock.timers.reset();
    expect(await stopped).to.equal(true);
  });

  it('resolves to false if the storage does not close in time, or fails to, and logs the failure', async () => {
    const hang = () => new Promise<never>(() => {});
    const fail = () => Promise.reject(new Error('no water'));
    for (const [close, reason] of [
      [hang, undefined],
      [fail, 'no water'],
    ] as const) {
      const { lines, plugin } = recordLog();
      const { stop } = await startWith({ LOG_LEVEL: 'info', SHUTDOWN_TIMEOUT: '1ms' }, (container) => {
        plugin(container);
        container.onActivation(services.Storage, (_, storage) => Object.assign(storage, { close }));
      });
      expect(await stop()).to.equal(false);
      expect(lines.find(({ msg }) => msg === 'stopped')).to.include({ closed: false });
      const failure = lines.find(({ msg }) => msg === 'a part failed to close');
      expect(failure?.err?.message).to.equal(reason);
    }
  });
});
