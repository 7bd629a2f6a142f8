import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { type Plugin, readConfig, services, start } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { toPlant } from '../support/plants.js';
import { exchange, request } from '../support/raw-http.js';

const SETTINGS = {
  PORT: '0',
  MANAGEMENT_PORT: '0',
  DATABASE_URL: 'memory:',
  ACCESS_TOKENS: 'secret',
  LOG_LEVEL: 'silent',
};
const startWith = (environment: Readonly<Record<string, string>> = {}, plugin?: Plugin) =>
  start(readConfig({ ...SETTINGS, ...environment }), plugin);

/** Replaces the storage by one in memory that records its calls, and whose first write waits until `finish` is called. */
function recordStorage() {
  const calls: string[] = [];
  let finish = () => {};
  const isFinished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const memory = new MemoryPlantRepository();
  const plugin: Plugin = (container) => {
    const storage = Object.assign(memory, {
      add: async (plants: Parameters<typeof memory.add>[0]) => {
        await isFinished;
        calls.push(`add ${plants.length}`);
        return MemoryPlantRepository.prototype.add.call(memory, plants);
      },
      close: async () => void calls.push('close'),
    });
    container
      .bind(services.OpenStorage)
      .toConstantValue(() => storage)
      .whenNamed('recorded');
  };
  return { calls, plugin, finish };
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

  it('counts requests without a label that a client chooses', async () => {
    const { url, managementUrl, stop } = await startWith();
    const port = Number(new URL(url).port);
    const head = { Authorization: 'Bearer secret', 'Content-Type': 'application/json' };
    await exchange(port, request('POST /plants', head, '{"id":1,"name":""}'));
    await exchange(port, request('POST /plants', head, '{"id":1,"name":"a"}'));
    await exchange(port, request('PROPFIND /canary'));
    await exchange(port, Buffer.from('garbage\r\n\r\n'));
    const lines = (await (await fetch(`${managementUrl}/metrics`)).text()).split('\n');
    await stop();
    expect(lines).to.include.members([
      'plant_store_http_requests_total{method="POST",route="/plants",status="200",error="none"} 1',
      'plant_store_http_requests_total{method="POST",route="/plants",status="409",error="40901"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="404",error="40401"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="400",error="40000"} 1',
      'plant_store_http_request_duration_seconds_count{route="/plants"} 2',
    ]);
  });

  it('stops after the creates in group commit, and only then closes the storage, once', async () => {
    const { calls, plugin, finish } = recordStorage();
    const { container, stop } = await startWith({ DATABASE_URL: 'recorded:' }, plugin);
    const repository = container.get(services.PlantRepository);
    const first = repository.add([toPlant({ id: 1n, name: '' })]);
    await new Promise(setImmediate);
    const second = repository.add([toPlant({ id: 2n, name: '' }), toPlant({ id: 3n, name: '' })]);
    const stopped = [stop(), stop()];
    finish();
    expect(await Promise.all(stopped)).to.deep.equal([true, true]);
    expect(await first).to.deep.equal([{ kind: 'added' }]);
    expect(await second).to.deep.equal([{ kind: 'added' }, { kind: 'added' }]);
    expect(calls).to.deep.equal(['add 1', 'add 2', 'close']);
  });

  it('writes the log and closes the storage if another part cannot be created', async () => {
    const { calls, plugin } = recordStorage();
    let isFlushed = false;
    const flush = (done: () => void) => {
      isFlushed = true;
      done();
    };
    const failing: Plugin = (container) => {
      plugin(container);
      container.rebind(services.LogDestination).toConstantValue({ write: () => {}, flush });
      container.rebind(services.RequestListener).toDynamicValue(() => Promise.reject(new Error('no framework')));
    };
    expect(await catchError(startWith({ DATABASE_URL: 'recorded:' }, failing))).to.match(/no framework/);
    expect(isFlushed).to.equal(true);
    expect(calls).to.deep.equal(['close']);
  });
});
