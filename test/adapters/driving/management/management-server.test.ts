import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { PrometheusMetrics } from '../../../../adapters/driven/metrics/index.js';
import type { NodeHttpServer } from '../../../../adapters/driving/http/index.js';
import { createManagementServer, type ReadinessCheck } from '../../../../adapters/driving/management/index.js';
import { findSlow, hostile } from '../../../support/processor-time.js';
import { exchange, request } from '../../../support/raw-http.js';

describe('The management server', () => {
  const running: NodeHttpServer[] = [];
  afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())));
  /** Starts a server, by default with a storage that is ready. Returns its port. */
  const start = async (check = async () => {}) => startWith({ name: 'storage', check });
  const startWith = async (...checks: readonly ReadinessCheck[]) => {
    const server = createManagementServer({ checks, metrics: new PrometheusMetrics('1.0.0'), isStopping: () => false });
    running.push(server);
    return Number(new URL(await server.listen(0, '127.0.0.1')).port);
  };

  it('reports a storage that does not respond as unavailable, and checks it once for concurrent requests', async () => {
    let checks = 0;
    const hang = () => {
      checks++;
      return new Promise<void>(() => {});
    };
    const port = await start(hang);
    const targets = ['/readyz', '/readyz', '/metrics'];
    const [response, , metrics] = await Promise.all(targets.map((target) => exchange(port, request(`GET ${target}`))));
    expect(response?.status).to.equal(503);
    expect(response?.json()).to.have.nested.property('checks.storage', 'unavailable');
    expect(checks).to.equal(1);
    expect(metrics?.body).to.match(/^plant_store_ready 0$/m);
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
    const get = async (...checks: readonly ReadinessCheck[]) =>
      exchange(await startWith(...checks), request('GET /readyz'));
    expect(await get(new Pump(true))).to.include({ status: 200 });
    expect(await get(new Pump(false), new Pump(true))).to.include({ status: 503 });
  });

  it('checks the storage again for each later request', async () => {
    let isUnavailable = false;
    const ready = async () => {
      if (isUnavailable) throw new Error('no response');
    };
    const port = await start(ready);
    for (const status of [200, 503, 200]) {
      isUnavailable = status === 503;
      expect(await exchange(port, request('GET /readyz'))).to.include({ status });
    }
  });

  it('takes a processor time in proportion to the bytes of a request', async () => {
    const bytes = request('GET /healthz', { Host: hostile('o', '@xn--') });
    expect(await findSlow(await start(), new Map([['a hostile Host', bytes]]))).to.deep.equal([]);
  });
});
