import type { HttpServer } from '@plant-store/adapters/http-server';
import { createManagementServer, createReadiness, type ReadinessCheck } from '@plant-store/adapters/management';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';

describe('The management server', () => {
  const running: HttpServer[] = [];
  after(() => Promise.all(running.map((server) => server.stop())));
  /** Starts a server, and returns its URL. */
  const start = async (checks: readonly ReadinessCheck[], isStopping = false) => {
    const checkReadiness = createReadiness(checks, () => isStopping);
    const metrics = { contentType: 'text/plain; version=0.0.4', metrics: async () => 'pots 4' };
    const server = createManagementServer(checkReadiness, metrics);
    running.push(server);
    return server.listen(0, '127.0.0.1');
  };
  const startWith = (check = async () => {}) => start([{ name: 'storage', check }]);
  const readiness = async (url: string) => {
    const response = await fetch(`${url}/readyz`);
    return [response.status, await response.json()];
  };
  const READY = [200, { status: 'ready', checks: { service: 'ok', storage: 'ok' } }];
  const UNAVAILABLE = [503, { status: 'not ready', checks: { service: 'ok', storage: 'unavailable' } }];

  it('serves health and readiness to GET and HEAD, and nothing else', async () => {
    const url = await startWith();
    const statuses = (method: string) =>
      Promise.all(['/healthz', '/readyz', '/'].map(async (path) => (await fetch(url + path, { method })).status));
    expect(await statuses('GET')).to.deep.equal([200, 200, 404]);
    expect(await statuses('HEAD')).to.deep.equal([200, 200, 404]);
    expect(await statuses('POST')).to.deep.equal([404, 404, 404]);
    const { headers } = await fetch(`${url}/healthz`);
    expect([headers.get('Content-Type'), headers.get('Content-Length')]).to.deep.equal(['application/json', '15']);
  });

  it('serves the metrics of a registry, if there is one', async () => {
    const response = await fetch(`${await startWith()}/metrics`);
    expect(response.headers.get('Content-Type')).to.equal('text/plain; version=0.0.4');
    expect(await response.text()).to.equal('pots 4');
    const bare = createManagementServer(createReadiness([], () => false));
    running.push(bare);
    expect((await fetch(`${await bare.listen(0, '127.0.0.1')}/metrics`)).status).to.equal(404);
  });

  it('is not ready while the service stops', async () => {
    const url = await start([], true);
    expect(await readiness(url)).to.deep.equal([503, { status: 'not ready', checks: { service: 'stopping' } }]);
  });

  it('reports a storage that does not respond as unavailable, and checks it once until it responds', async () => {
    let calls = 0;
    const url = await startWith(() => {
      calls++;
      return new Promise<void>(() => {});
    });
    expect(await Promise.all([readiness(url), readiness(url)])).to.deep.equal([UNAVAILABLE, UNAVAILABLE]);
    expect(await readiness(url), 'later').to.deep.equal(UNAVAILABLE);
    expect(calls).to.equal(1);
  });

  it('checks the storage again for each later request', async () => {
    let isUnavailable = false;
    const url = await startWith(async () => {
      if (isUnavailable) throw new Error('no response');
    });
    for (const expected of [READY, UNAVAILABLE, READY]) {
      isUnavailable = expected === UNAVAILABLE;
      expect(await readiness(url)).to.deep.equal(expected);
    }
  });

  it('calls a check as its method, and is not ready while one of several with the same name fails', async () => {
    const pump = {
      name: 'pump',
      isRunning: true,
      async check() {
        if (!this.isRunning) throw new Error('it stands still');
      },
    };
    const statusWith = async (...checks: readonly ReadinessCheck[]) => (await readiness(await start(checks)))[0];
    expect(await statusWith(pump)).to.equal(200);
    const stopped = { ...pump, isRunning: false };
    expect(await statusWith(stopped, pump)).to.equal(503);
  });
});

describe('A readiness check', () => {
  it('logs its first failure, each with another cause than the one before, and its recovery', async () => {
    let code = '';
    const lines: unknown[] = [];
    const storage = {
      name: 'storage',
      async check() {
        if (code) throw new StorageUnavailable(`unavailable (${code})`);
      },
    };
    const warn = (...[fields]: unknown[]) => void lines.push(Object(fields).err.message);
    const info = (...[, message]: unknown[]) => void lines.push(message);
    const checkReadiness = createReadiness([storage], () => false, { info, warn });
    for (code of ['', 'ECONNREFUSED', 'ECONNREFUSED', '42501', '42501', '', '42501']) await checkReadiness();
    const [refused, denied] = ['unavailable (ECONNREFUSED)', 'unavailable (42501)'];
    expect(lines).to.deep.equal([refused, denied, 'ready again', denied]);
  });

  it('fails, and is logged, if it throws what is no error, or does not end in time', async () => {
    for (const [check, expected] of [
      [() => Promise.reject(Object.create(null)), undefined],
      [() => new Promise<void>(() => {}), 'no result within 1000 ms'],
    ] as const) {
      const lines: unknown[] = [];
      const warn = (...[fields]: unknown[]) => void lines.push(Object(Object(fields).err).message);
      const checkReadiness = createReadiness([{ name: 'pump', check }], () => false, { info: warn, warn });
      // A check that is waited for keeps nothing running.
      const keepAlive = setInterval(() => {}, 1000);
      for (let time = 0; time < 2; time++) expect((await checkReadiness()).isReady).to.equal(false);
      clearInterval(keepAlive);
      expect(lines).to.deep.equal([expected]);
    }
  });
});
