import type { HttpServer } from '@plant-store/adapters/http-server';
import { createManagementServer, createReadiness } from '@plant-store/adapters/management';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';

describe('The management server', () => {
  const running: HttpServer[] = [];
  after(() => Promise.all(running.map((server) => server.stop())));
  /** Starts a server, and returns its URL. */
  const start = (...options: Parameters<typeof createManagementServer>) => {
    const server = createManagementServer(...options);
    running.push(server);
    return server.listen(0, '127.0.0.1');
  };
  const ready = createReadiness([], () => false);
  const contentType = 'text/plain; version=0.0.4';

  it('serves health, readiness and the metrics of a registry to GET and HEAD, and nothing else', async () => {
    const url = await start(ready, { contentType, metrics: async () => 'pots 4' });
    for (const [path, status, type, body] of [
      ['/healthz?x', 200, 'application/json', '{"status":"ok"}'],
      ['/readyz', 200, 'application/json', '{"status":"ready","checks":{"service":"ok"}}'],
      ['/metrics', 200, contentType, 'pots 4'],
      ['/', 404, 'text/plain', 'Not Found'],
    ] as const) {
      const response = await fetch(url + path);
      expect([response.status, await response.text()]).to.deep.equal([status, body]);
      expect(response.headers.get('Content-Type')).to.equal(type);
      expect(response.headers.get('Content-Length')).to.equal(`${body.length}`);
      expect((await fetch(url + path, { method: 'HEAD' })).status, 'HEAD').to.equal(status);
      expect((await fetch(url + path, { method: 'POST' })).status, 'POST').to.equal(404);
    }
  });

  it('responds 404 without a registry, and 500 if a metric fails', async () => {
    expect((await fetch(`${await start(ready)}/metrics`)).status).to.equal(404);
    const failing = await start(ready, { contentType, metrics: () => Promise.reject(new Error('no pots')) });
    expect((await fetch(`${failing}/metrics`)).status).to.equal(500);
  });

  it('checks the storage for each request, and is not ready while that fails or the service stops', async () => {
    let [isUnavailable, isStopping] = [false, false];
    const check = async () => {
      if (isUnavailable) throw new Error('no response');
    };
    const url = await start(createReadiness([{ name: 'storage', check }], () => isStopping));
    for (const [status, service, storage] of [
      [200, 'ok', 'ok'],
      [503, 'ok', 'unavailable'],
      [503, 'stopping', 'ok'],
    ] as const) {
      isUnavailable = storage === 'unavailable';
      isStopping = service === 'stopping';
      const response = await fetch(`${url}/readyz`);
      expect(response.status).to.equal(status);
      const expected = { status: status === 200 ? 'ready' : 'not ready', checks: { service, storage } };
      expect(await response.json()).to.deep.equal(expected);
    }
  });
});

describe('A readiness check', () => {
  it('is called as a method, and one of several with the same name may fail', async () => {
    const pump = {
      name: 'pump',
      isRunning: true,
      async check() {
        if (!this.isRunning) throw new Error('it stands still');
      },
    };
    const stopped = { ...pump, isRunning: false };
    expect(await createReadiness([pump], () => false)()).to.include({ isReady: true });
    expect(await createReadiness([stopped, pump], () => false)()).to.include({ isReady: false });
  });

  it('logs its first failure, each with another cause than the one before, and its recovery', async () => {
    let code = '';
    const lines: unknown[] = [];
    const check = async () => {
      if (code) throw new StorageUnavailable(`unavailable (${code})`);
    };
    const warn = (...[fields]: unknown[]) => void lines.push(Object(fields).err.message);
    const info = (...[, message]: unknown[]) => void lines.push(message);
    const checkReadiness = createReadiness([{ name: 'storage', check }], () => false, { info, warn });
    for (code of ['', 'ECONNREFUSED', 'ECONNREFUSED', '42501', '42501', '', '42501']) await checkReadiness();
    const [refused, denied] = ['unavailable (ECONNREFUSED)', 'unavailable (42501)'];
    expect(lines).to.deep.equal([refused, denied, 'ready again', denied]);
  });

  it('fails if it throws what is no error or does not end in time, and is called once until it ends', async () => {
    for (const [result, expectedCalls, expected] of [
      [() => Promise.reject(Object.create(null)), 2, undefined],
      [() => new Promise<void>(() => {}), 1, 'no result within 1000 ms'],
    ] as const) {
      let calls = 0;
      const check = () => {
        calls++;
        return result();
      };
      const lines: unknown[] = [];
      const warn = (...[fields]: unknown[]) => void lines.push(Object(Object(fields).err).message);
      const checkReadiness = createReadiness([{ name: 'pump', check }], () => false, { info: warn, warn });
      // A check that is waited for keeps nothing running.
      const keepAlive = setInterval(() => {}, 1000);
      for (let time = 0; time < 2; time++) expect((await checkReadiness()).isReady).to.equal(false);
      clearInterval(keepAlive);
      expect([lines, calls]).to.deep.equal([[expected], expectedCalls]);
    }
  });
});
