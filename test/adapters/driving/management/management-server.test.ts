import type { HttpServer } from '@plant-store/adapters/koa';
import { createManagementServer, type ReadinessCheck } from '@plant-store/adapters/management';
import { createMetrics } from '@plant-store/adapters/metrics';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { findSlow, hostile } from '../../../support/processor-time.js';
import { exchange, request } from '../../../support/raw-http.js';

describe('The management server', () => {
  const running: HttpServer[] = [];
  after(() => Promise.all(running.map((server) => server.stop())));
  /** Starts a server, and returns its URL. */
  const start = async (checks: readonly ReadinessCheck[], isStopping = false) => {
    const metrics = await createMetrics('1.0.0');
    const server = createManagementServer({ checks, metrics, isStopping: () => isStopping });
    running.push(server);
    return server.listen(0, '127.0.0.1');
  };
  /** Starts a server with a storage, by default one that is ready. */
  const startWith = (check = async () => {}) => start([{ name: 'storage', check }]);
  const read = async (url: string) => {
    const response = await fetch(url);
    return [response.status, await response.json()];
  };

  it('serves health and readiness to GET and HEAD, and nothing else', async () => {
    const url = await startWith();
    expect(await read(`${url}/healthz`)).to.deep.equal([200, { status: 'ok' }]);
    const checks = { service: 'ok', storage: 'ok' };
    expect(await read(`${url}/readyz`)).to.deep.equal([200, { status: 'ready', checks }]);
    const statuses = (method: string) =>
      Promise.all(['/healthz', '/readyz', '/'].map(async (path) => (await fetch(url + path, { method })).status));
    expect(await statuses('HEAD')).to.deep.equal([200, 200, 404]);
    expect(await statuses('POST')).to.deep.equal([404, 404, 404]);
  });

  it('is not ready while the service stops', async () => {
    const checks = { service: 'stopping' };
    expect(await read(`${await start([], true)}/readyz`)).to.deep.equal([503, { status: 'not ready', checks }]);
  });

  it('reports a storage that does not respond as unavailable, and checks it once until it responds', async () => {
    let calls = 0;
    const hang = () => {
      calls++;
      return new Promise<void>(() => {});
    };
    const url = await startWith(hang);
    const metrics = fetch(`${url}/metrics`);
    const readiness = await Promise.all([read(`${url}/readyz`), read(`${url}/readyz`)]);
    const checks = { service: 'ok', storage: 'unavailable' };
    for (const each of readiness) expect(each).to.deep.equal([503, { status: 'not ready', checks }]);
    expect(await (await metrics).text()).to.match(/^plant_store_ready 0$/m);
    expect(await read(`${url}/readyz`), 'later').to.deep.equal([503, { status: 'not ready', checks }]);
    expect(calls).to.equal(1);
  });

  it('calls a check as its method, and is not ready while one of several with the same name fails', async () => {
    class Pump {
      readonly name = 'pump';
      readonly #isRunning: boolean;
      constructor(isRunning: boolean) {
        this.#isRunning = isRunning;
      }
      async check() {
        if (!this.#isRunning) throw new Error('it stands still');
      }
    }
    const readStatus = async (...checks: readonly Pump[]) => (await fetch(`${await start(checks)}/readyz`)).status;
    expect(await readStatus(new Pump(true))).to.equal(200);
    expect(await readStatus(new Pump(false), new Pump(true))).to.equal(503);
  });

  it('checks the storage again for each later request', async () => {
    let isUnavailable = false;
    const ready = async () => {
      if (isUnavailable) throw new Error('no response');
    };
    const url = await startWith(ready);
    for (const storage of ['ok', 'unavailable', 'ok']) {
      isUnavailable = storage === 'unavailable';
      expect(await read(`${url}/readyz`)).to.have.nested.property('[1].checks.storage', storage);
    }
  });

  it('responds 40000 to malformed HTTP, and serves others', async () => {
    const url = await startWith();
    expect(await exchange(Number(new URL(url).port), 'garbage\r\n\r\n')).to.include({ outcome: 40000 });
    expect((await fetch(`${url}/healthz`)).status).to.equal(200);
  });

  it('takes a processor time in proportion to the bytes of a request', async () => {
    const { port } = new URL(await startWith());
    const bytes = request('GET /healthz', { Host: hostile('o', '@xn--') });
    expect(await findSlow(Number(port), new Map([['a hostile Host', bytes]]))).to.deep.equal([]);
  });
});
