import type { HttpServer } from '@plant-store/adapters/http-server';
import { createManagementServer, createReadiness } from '@plant-store/adapters/management';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';

describe('The management server', () => {
  const running: HttpServer[] = [];
  after(() => Promise.all(running.map((server) => server.stop())));
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

  it('responds 503 while not ready, 404 without a registry, and 500 if a metric fails', async () => {
    const url = await start(createReadiness([], () => true));
    const response = await fetch(`${url}/readyz`);
    expect(response.status).to.equal(503);
    expect(await response.json()).to.deep.equal({ status: 'not ready', checks: { service: 'stopping' } });
    expect((await fetch(`${url}/metrics`)).status).to.equal(404);
    const failing = await start(ready, { contentType, metrics: () => Promise.reject(new Error('no pots')) });
    expect((await fetch(`${failing}/metrics`)).status).to.equal(500);
  });
});

describe('A readiness check', () => {
  it('logs its first failure, each with another cause than the one before, and its recovery', async () => {
    let code = '';
    const lines: unknown[] = [];
    const check = async () => {
      if (code) throw new StorageUnavailable(`unavailable (${code})`);
    };
    const warn = (...[fields]: unknown[]) => void lines.push(Object(fields).err.message);
    const info = (...[, message]: unknown[]) => void lines.push(message);
    const checkReadiness = createReadiness([{ name: 'storage', check }], () => false, { info, warn });
    for (code of ['', 'ECONNREFUSED', 'ECONNREFUSED', '42501', '42501', '', '42501']) {
      const storage = code ? 'unavailable' : 'ok';
      expect(await checkReadiness()).to.deep.equal({ isReady: !code, checks: { service: 'ok', storage } });
    }
    const [refused, denied] = ['unavailable (ECONNREFUSED)', 'unavailable (42501)'];
    expect(lines).to.deep.equal([refused, denied, 'ready again', denied]);
  });

  it('fails if it does not end in time, and is called once until it ends', async () => {
    let calls = 0;
    const check = () => {
      calls++;
      return new Promise<void>(() => {});
    };
    const checkReadiness = createReadiness([{ name: 'pump', check }], () => false);
    // A check that is waited for keeps nothing running.
    const keepAlive = setInterval(() => {}, 1000);
    for (let time = 0; time < 2; time++) expect(await checkReadiness()).to.include({ isReady: false });
    clearInterval(keepAlive);
    expect(calls).to.equal(1);
  });
});
