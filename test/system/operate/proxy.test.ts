import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request as requestTls } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CREATE_HEADERS, create, createRequest, serve, toLines } from '../../support/client.js';
import { postgresEngine } from '../../support/engines.js';
import { Program } from '../../support/executable.js';
import { configuration } from '../../support/guide.js';
import { freePort } from '../../support/port.js';
import { exchange, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';

/** The host name in the configurations. */
const NAME = 'plants.example.org';
const MONSTERA = { id: 1n, name: 'Monstera' };
/** A plant whose body exceeds the limit. */
const LARGE = { id: 2n, name: 'x'.repeat(1_100_000) };

/** Creates a plant over TLS, and returns the status and the body. */
async function createOverTls(port: number): Promise<readonly [number, string]> {
  const address = { host: '127.0.0.1', port, servername: NAME, rejectUnauthorized: false };
  const headers = { ...CREATE_HEADERS, Host: NAME };
  const outgoing = requestTls({ ...address, method: 'POST', path: '/plants', headers });
  outgoing.end('{"id":-1,"name":"Monstera"}');
  const [response] = await once(outgoing, 'response');
  return [response.statusCode, await text(response)];
}

describe('Behind nginx configured as in the guide', () => {
  const folder = temporaryFolder();
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];

  before(function () {
    skipUnlessInstalled(this, 'nginx', '-v');
    skipUnlessInstalled(this, 'openssl', 'version');
    const options = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-subj', `/CN=${NAME}`];
    spawnSync('openssl', ['req', '-x509', '-nodes', ...options, '-keyout', key, '-out', certificate]);
  });

  /** Starts nginx in front of instances, with the guide's configuration except for ports, paths and some changes. */
  async function startNginx(instances: readonly number[], changes: Readonly<Record<string, string>> = {}) {
    const own = mkdtempSync(join(folder, 'nginx-'));
    // `port` is without TLS.
    const [redirectPort, port, tlsPort] = [await freePort(), await freePort(), await freePort()];
    const accessLog = join(own, 'access.log');
    const nginxConf = configuration('nginx.conf', {
      'listen 80;': `listen 127.0.0.1:${redirectPort};`,
      'listen [::]:80;': '',
      '443 ssl;\n  listen [::]:443 ssl;': `127.0.0.1:${port};\n  listen 127.0.0.1:${tlsPort} ssl;`,
      'server 127.0.0.1:3000 max_fails=0;': instances.map((each) => `server 127.0.0.1:${each} max_fails=0;`).join('\n'),
      '/var/log/nginx/plant-store.log': accessLog,
      '/var/log/nginx/plant-store-error.log': 'stderr',
      '/etc/ssl/plants.example.org.pem': certificate,
      '/etc/ssl/private/plants.example.org.key': key,
      ...changes,
    });
    writeFileSync(join(own, 'plant-store.conf'), nginxConf);
    const main = 'daemon off; pid nginx.pid; error_log stderr notice; events {} http { include plant-store.conf; }';
    writeFileSync(join(own, 'nginx.conf'), main);
    const program = new Program(own, ['nginx', '-p', own, '-c', 'nginx.conf', '-e', 'stderr']);
    await program.waitForOutput(/start worker process \d/);
    expect(program.stderr).not.to.match(/\[(warn|error|emerg)\]/);
    return { program, redirectPort, port, tlsPort, accessLog };
  }

  it('clients get the responses of the service over TLS, with the request id of both logs', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:' });
    const { program, redirectPort, port, tlsPort, accessLog } = await startNginx([await service.port()]);
    expect(await createOverTls(tlsPort)).to.deep.equal([200, '{"name":"Monstera"}']);
    const redirect = await exchange(redirectPort, request('POST /plants'));
    expect([redirect?.status, redirect?.headers['location']]).to.deep.equal([308, `https://${NAME}/plants`]);

    const ids: unknown[] = [];
    for (const id of ['made-by-the-client', 'not a valid id'])
      ids.push((await create(port, MONSTERA, { 'X-Request-Id': id }))?.headers['x-request-id']);
    expect(ids.join()).to.match(/^made-by-the-client,[0-9a-f]{32}$/);
    await service.waitForOutput(RegExp(`"requestId":"${ids[1]}"`));
    await program.kill('SIGQUIT').exited();
    for (const log of [service.stderr, readFileSync(accessLog, 'utf8')])
      expect(toLines(log).map((line) => JSON.parse(line).requestId)).to.include.members(ids);
  });

  it('rejections by nginx itself are Error objects', async () => {
    const { port } = await startNginx([await freePort()], { 'rate=100r/s': 'rate=1r/m', 'burst=200': 'burst=1' });
    const long = 'x'.repeat(40_000);
    for (const [bytes, outcome, retryAfter] of [
      [createRequest(LARGE), 41301, undefined],
      [request('POST /plants', { 'X-Long': long }), 43101, undefined],
      [request(`POST /${long}`), 43101, undefined],
      [request('TRACE /plants'), 40501, undefined],
      [request('POST /nginx-error/50302'), 40401, undefined],
      [request('POST /plants', { Host: 'not a host' }), 40000, undefined],
      [createRequest(MONSTERA), 50301, '5'],
      [createRequest(MONSTERA), 50301, '5'],
      [createRequest(MONSTERA), 50302, '1'],
    ] as const) {
      const response = await exchange(port, bytes);
      expect([response?.outcome, response?.headers['retry-after']]).to.deep.equal([outcome, retryAfter]);
      expect(response?.headers).to.include({ 'content-type': 'application/json' }).and.have.property('x-request-id');
    }
  });

  describe('with two instances on PostgreSQL', () => {
    const stores = postgresEngine.stores();

    it('restarts in turn under load lose no plant, and no client gets an error', async () => {
      const store = await stores.create();
      const start = (PORT = '0') => serve(folder, { DATABASE_URL: store.url, PORT, LOG_LEVEL: 'warn' });
      const instances = [start(), start()];
      const ports = await Promise.all(instances.map((instance) => instance.port()));
      // One client sends all requests.
      const { program, port, accessLog } = await startNginx(ports, {
        'rate=100r/s': 'rate=1000000r/s',
        'plant_store_connections 100;': 'plant_store_connections 1000;',
      });
      const load = await Load.on(port, CLIENTS);
      for (let restart = 0; restart < 6; restart++) {
        const index = restart % 2;
        expect(await instances[index]?.stop()).to.equal(0);
        await load.waitForOutcomes(20, 200);
        instances[index] = start(`${ports[index]}`);
        await instances[index].port();
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
      expect(violationsOf(history, await store.readPlants())).to.deep.equal([]);
    });
  });
});

describe('Behind Caddy configured as in the guide', () => {
  const folder = temporaryFolder();

  it('clients get the responses of the service over TLS, or 50301 if no instance runs; its log has no token', async function () {
    skipUnlessInstalled(this, 'caddy', 'version');
    const service = serve(folder, { DATABASE_URL: 'memory:' });
    const [port, tlsPort] = [await freePort(), await freePort()];
    const accessLog = join(folder, 'access.log');
    const local = `admin off\nhttp_port ${port}\nhttps_port ${tlsPort}\nlocal_certs\nskip_install_trust`;
    const caddyfile = configuration('Caddyfile', {
      '\n{\n': `\n{\n${local}\nlog {\nlevel DEBUG\n}\n`,
      'plants.example.org {': 'plants.example.org, http:// {',
      '127.0.0.1:3000 127.0.0.1:3100': `127.0.0.1:${await service.port()}`,
      '/var/log/caddy/plant-store.log': accessLog,
    });
    writeFileSync(join(folder, 'Caddyfile'), caddyfile);
    const environment = { HOME: folder, XDG_DATA_HOME: folder };
    const program = new Program(folder, ['caddy', 'run', '--config', 'Caddyfile'], environment);
    await program.waitForOutput(/added certificate to cache/);

    expect(await createOverTls(tlsPort)).to.deep.equal([200, '{"name":"Monstera"}']);
    expect((await create(port, LARGE))?.outcome).to.equal(41301);
    await service.stop();
    const response = await create(port, MONSTERA);
    expect(response?.outcome).to.equal(50301);
    expect(response?.headers).to.include({ 'content-type': 'application/json', 'retry-after': '5' });
    expect(readFileSync(accessLog, 'utf8')).to.include('X-Request-Id').and.not.to.include(TOKEN);
  });
});
