import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request as requestTls } from 'node:https';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CREATE_HEADERS, create, createRequest, serve, toLines } from '../../support/client.js';
import { postgresEngine } from '../../support/engines.js';
import { Program } from '../../support/executable.js';
import { configuration } from '../../support/guide.js';
import { freePort, portOf } from '../../support/port.js';
import { exchange, request } from '../../support/raw-http.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, violationsOf } from '../history.js';
import { CLIENTS, Load } from '../load.js';

/** The host name in the configuration. */
const NAME = 'plants.example.org';
const OVERLOADED =
  'HTTP/1.1 503 \r\nContent-Type: application/json\r\nRetry-After: 7\r\nConnection: close\r\n' +
  'Content-Length: 38\r\n\r\n{"error":50302,"message":"overloaded"}';

describe('Behind nginx configured as in the guide', () => {
  const folder = temporaryFolder();
  const [key, certificate] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
  let service: Program;
  let servicePort: number;
  let lastId = 0n;
  const plant = (name = 'Monstera') => ({ id: ++lastId, name });

  before(async function () {
    skipUnlessInstalled(this, 'nginx', '-v');
    skipUnlessInstalled(this, 'openssl', 'version');
    const options = `-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -subj /CN=${NAME} -addext subjectAltName=DNS:${NAME}`;
    const files = ['-keyout', key, '-out', certificate];
    spawnSync('openssl', ['req', '-x509', '-nodes', ...options.split(' '), ...files]);
    service = serve(folder, { DATABASE_URL: 'memory:' });
    servicePort = await service.port();
  });

  /** Starts nginx in front of instances, with the guide's configuration except for ports, paths and some changes. */
  async function startNginx(ports: readonly number[], changes: Readonly<Record<string, string>> = {}) {
    const own = mkdtempSync(join(folder, 'nginx-'));
    const [redirectPort, port] = [await freePort(), await freePort()];
    const [accessLog, errorLog] = [join(own, 'access.log'), join(own, 'error.log')];
    const nginxConf = configuration('nginx.conf', {
      'listen 80;': `listen 127.0.0.1:${redirectPort};`,
      'listen [::]:80;': '',
      '443 ssl;\n  listen [::]:443 ssl;': `127.0.0.1:${port};`,
      'server 127.0.0.1:3000 max_fails=0;': ports.map((one) => `server 127.0.0.1:${one} max_fails=0;`).join('\n'),
      '/var/log/nginx/plant-store.log': accessLog,
      '/var/log/nginx/plant-store-error.log': errorLog,
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
    return { program, redirectPort, port, accessLog, errorLog };
  }

  /** Starts servers in place of instances, which send this response, or none. Returns the ports, and those with requests. */
  async function startStubs(count: number, response: string) {
    const ports: number[] = [];
    const called = new Set<number>();
    while (ports.length < count) {
      const server = createServer((socket) => {
        socket.on('error', () => {});
        socket.once('data', () => {
          called.add(portOf(server));
          if (response) socket.end(response);
        });
      });
      await once(server.unref().listen(0, '127.0.0.1'), 'listening');
      ports.push(portOf(server));
    }
    return { ports, called };
  }

  it('clients get the responses of the service over TLS; plain HTTP is redirected and keeps its method', async () => {
    const port = await freePort();
    const tls = { '443 ssl;\n  listen [::]:443 ssl;': `127.0.0.1:${port} ssl;` };
    const { redirectPort } = await startNginx([servicePort], tls);
    const headers = { Host: NAME, ...CREATE_HEADERS };
    const address = { host: '127.0.0.1', port, servername: NAME, ca: readFileSync(certificate) };
    const outgoing = requestTls({ ...address, method: 'POST', path: '/plants', headers });
    outgoing.end('{"id":-1,"name":"Monstera"}');
    const [response] = await once(outgoing, 'response');
    expect([response.statusCode, await text(response)]).to.deep.equal([200, '{"name":"Monstera"}']);
    const redirect = await exchange(redirectPort, 'POST /plants HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n');
    expect([redirect?.status, redirect?.headers['location']]).to.deep.equal([308, `https://${NAME}/plants`]);
  });

  it('bodies up to the limit are accepted, and rejections by nginx itself are Error objects', async () => {
    const { port } = await startNginx([servicePort]);
    expect((await create(port, plant('x'.repeat(1_000_000))))?.outcome).to.equal(200);
    const long = 'x'.repeat(40_000);
    for (const [bytes, outcome] of [
      [createRequest(plant('x'.repeat(1_100_000))), 41301],
      [request('POST /plants', { 'X-Long': long }), 43101],
      [request(`POST /${long}`), 43101],
      [request('TRACE /plants'), 40501],
      [request('POST /nginx-error/50302'), 40401],
      [request('POST /plants', { Host: 'not a host' }), 40000],
    ] as const) {
      const response = await exchange(port, bytes);
      expect(response?.outcome).to.equal(outcome);
      expect(response?.headers).to.include({ 'content-type': 'application/json' }).and.have.property('x-request-id');
    }
  });

  it('the response and both logs have the same request id, which is the id of the client if valid', async () => {
    const { program, port, accessLog } = await startNginx([servicePort]);
    const ids: unknown[] = [];
    for (const headers of [{ 'X-Request-Id': 'made-by-the-client' }, {}, { 'X-Request-Id': 'not a valid id' }])
      ids.push((await create(port, plant(), headers))?.headers['x-request-id']);
    expect(ids.join()).to.match(/^made-by-the-client(,[0-9a-f]{32}){2}$/);
    await program.kill('SIGQUIT').exited();
    const idsIn = (log: string) => toLines(log).map((line) => JSON.parse(line).requestId);
    expect(idsIn(readFileSync(accessLog, 'utf8'))).to.deep.equal(ids);
    await service.waitForOutput(RegExp(`"requestId":"${ids[2]}"`));
    expect(idsIn(service.stderr)).to.include.members(ids);
  });

  it('a client above its rate gets 50302 with Retry-After', async () => {
    const { port } = await startNginx([servicePort], { 'rate=100r/s': 'rate=1r/m', 'burst=200': 'burst=1' });
    for (let sent = 0; sent < 2; sent++) expect((await create(port, plant()))?.outcome).to.equal(200);
    const { outcome, headers } = (await create(port, plant())) ?? {};
    expect([outcome, headers?.['retry-after']]).to.deep.equal([50302, '1']);
  });

  it('a create that one instance rejected is sent to another, but to no third', async () => {
    const overloaded = await startStubs(1, OVERLOADED);
    const { port } = await startNginx([...overloaded.ports, servicePort]);
    for (let times = 0; times < 10; times++) expect((await create(port, plant()))?.outcome).to.equal(200);
    expect(overloaded.called.size).to.equal(1);

    const { ports, called } = await startStubs(3, OVERLOADED);
    const { outcome, headers } = (await create((await startNginx(ports)).port, plant())) ?? {};
    expect([outcome, headers?.['retry-after'], called.size]).to.deep.equal([50302, '7', 2]);
  });

  it('a create that one instance does not respond to gets 50301, and is not sent again', async () => {
    const { ports, called } = await startStubs(2, '');
    const { port } = await startNginx(ports, { 'proxy_read_timeout 15s;': 'proxy_read_timeout 200ms;' });
    const { outcome, headers } = (await create(port, plant())) ?? {};
    expect([outcome, headers?.['retry-after'], called.size]).to.deep.equal([50301, '5', 1]);
  });

  describe('with two instances on PostgreSQL', () => {
    const stores = postgresEngine.stores();

    it('restarts in turn under load lose no plant, and no client gets an error', async () => {
      const store = await stores.create();
      const start = async (PORT: string) => {
        const instance = serve(folder, { DATABASE_URL: store.url, PORT, LOG_LEVEL: 'warn' });
        return { instance, port: await instance.port() };
      };
      const running = [await start('0'), await start('0')];
      // One client sends all requests.
      const { port, accessLog, errorLog } = await startNginx(
        running.map((each) => each.port),
        { 'rate=100r/s': 'rate=1000000r/s', 'plant_store_connections 100;': 'plant_store_connections 1000;' },
      );
      const load = new Load();
      load.start(port);
      for (let restart = 0; restart < 6; restart++) {
        await load.waitForOutcomes(CLIENTS, 200);
        const next = running.shift();
        expect(await next?.instance.stop()).to.equal(0);
        await load.waitForOutcomes(20, 200);
        running.push(await start(`${next?.port}`));
      }
      await load.waitForOutcomes(CLIENTS, 200);
      await load.stop();
      expect(conclusive).to.include.members(load.outcomes());
      // Each failed attempt is in the access log, and none in the error log.
      expect(readFileSync(accessLog, 'utf8')).to.include('"upstreamStatus":"502');
      expect(readFileSync(errorLog, 'utf8')).to.equal('');
      // nginx sends a create again after an error, so the plant of a 40902 may be from the first attempt.
      const history = load.history.flatMap((operation) =>
        operation.outcome === 40902 ? [{ ...operation, outcome: undefined }, operation] : [operation],
      );
      expect(violationsOf(history, await store.readPlants())).to.deep.equal([]);
    });
  });
});
