import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, createRequest, exchange, request, serve, toLines } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { Program } from '../../support/executable.js';
import { configuration } from '../../support/guide.js';
import { freePort } from '../../support/port.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';

const MONSTERA = { id: 1n, name: 'Monstera' };

describe('Behind nginx configured as in the guide', () => {
  const folder = temporaryFolder();
  before(function () {
    skipUnlessInstalled(this, 'nginx', '-v');
  });

  /** Starts nginx in front of instances, with the guide's configuration except for TLS, paths and some changes. */
  async function startNginx(instances: readonly number[], changes: Readonly<Record<string, string>>) {
    const own = mkdtempSync(join(folder, 'nginx-'));
    const [redirectPort, port] = [await freePort(), await freePort()];
    const accessLog = join(own, 'access.log');
    const nginxConf = configuration('nginx.conf', {
      'listen 80;': `listen 127.0.0.1:${redirectPort};`,
      'listen [::]:80;': '',
      'listen 443 ssl;': `listen 127.0.0.1:${port};`,
      'listen [::]:443 ssl;': '',
      'ssl_certificate /etc/ssl/plants.example.org.pem;': '',
      'ssl_certificate_key /etc/ssl/private/plants.example.org.key;': '',
      'server 127.0.0.1:3000 max_fails=0;': instances.map((each) => `server 127.0.0.1:${each} max_fails=0;`).join('\n'),
      '/var/log/nginx/plant-store.log': accessLog,
      '/var/log/nginx/plant-store-error.log': 'stderr',
      ...changes,
    });
    writeFileSync(join(own, 'plant-store.conf'), nginxConf);
    const main = 'daemon off; pid nginx.pid; error_log stderr notice; events {} http { include plant-store.conf; }';
    writeFileSync(join(own, 'nginx.conf'), main);
    const program = new Program(own, ['nginx', '-p', own, '-c', 'nginx.conf', '-e', 'stderr']);
    await program.waitForOutput(/start worker process \d/);
    expect(program.stderr).not.to.match(/\[(warn|error|emerg)\]/);
    return { program, redirectPort, port, accessLog };
  }

  it('clients get the responses of the service with the request id of both logs, and Error objects from nginx', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:' });
    // Three creates, of which nginx forwards two before the service stops.
    const limits = { 'rate=100r/s': 'rate=1r/m', 'burst=200': 'burst=2' };
    const { program, redirectPort, port, accessLog } = await startNginx([await service.port()], limits);
    const redirect = await exchange(redirectPort, request('POST /plants'));
    expect(redirect?.headers['location']).to.equal('https://plants.example.org/plants');

    const ids: unknown[] = [];
    for (const [id, outcome] of [
      ['made-by-the-client', 200],
      ['not a valid id', 40902],
    ] as const) {
      const response = await create(port, MONSTERA, { 'X-Request-Id': id });
      expect(response?.outcome).to.equal(outcome);
      ids.push(response?.headers['x-request-id']);
    }
    expect(ids.join()).to.match(/^made-by-the-client,[0-9a-f]{32}$/);
    await service.stop();
    const long = 'x'.repeat(40_000);
    for (const [bytes, outcome, retryAfter] of [
      [createRequest({ id: 2n, name: 'x'.repeat(1_100_000) }), 41301, undefined],
      [request('POST /plants', { 'X-Long': long }), 43101, undefined],
      [request(`POST /${long}`), 43101, undefined],
      [request('TRACE /plants'), 40501, undefined],
      [request('POST /nginx-error/50302'), 40401, undefined],
      [request('POST /plants', { Host: 'not a host' }), 40000, undefined],
      [createRequest(MONSTERA), 50301, '5'],
      [createRequest(MONSTERA), 50302, '1'],
    ] as const) {
      const response = await exchange(port, bytes);
      expect([response?.outcome, response?.headers['retry-after']]).to.deep.equal([outcome, retryAfter]);
      expect(response?.headers).to.include({ 'content-type': 'application/json' }).and.have.property('x-request-id');
    }
    await program.kill('SIGQUIT').exited();
    for (const log of [service.stderr, readFileSync(accessLog, 'utf8')])
      expect(toLines(log).map((line) => JSON.parse(line).requestId)).to.include.members(ids);
  });

  it('two instances restarted in turn under load lose no plant, and no client gets an error', async () => {
    const start = (PORT = '0') => serve(folder, { PORT, LOG_LEVEL: 'warn' });
    const instances = [start(), start()];
    const ports = await Promise.all(instances.map((instance) => instance.port()));
    // One client sends all requests.
    const { program, port, accessLog } = await startNginx(ports, {
      'rate=100r/s': 'rate=1000000r/s',
      'plant_store_connections 100;': 'plant_store_connections 1000;',
    });
    const load = await Load.on(port, CLIENTS);
    for (const [index, instance] of instances.entries()) {
      expect(await instance.stop()).to.equal(0);
      await load.waitForOutcomes(CLIENTS, 200);
      await start(`${ports[index]}`).port();
      await load.waitForOutcomes(CLIENTS, 200);
    }
    await load.stop();
    expect(conclusive).to.include.members(load.outcomes());
    // Each failed attempt is in the access log, and none in the error log.
    expect(readFileSync(accessLog, 'utf8')).to.include('"upstreamStatus":"502');
    expect(program.stderr).not.to.include('[error]');
    // nginx sends a create again after an error, so the plant of a 40902 may be from the first attempt.
    const history = load.history.flatMap((operation) =>
      operation.outcome === 40902 ? [{ ...operation, outcome: undefined }, operation] : [operation],
    );
    expect(violationsOf(history, await sqliteStore(join(folder, 'plants.db')).readPlants())).to.deep.equal([]);
  });
});
