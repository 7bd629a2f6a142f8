import { spawnSync } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import type { IncomingHttpHeaders, RequestOptions } from 'node:http';
import { Agent, request } from 'node:https';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { connect as connectTls } from 'node:tls';
import { expect } from 'chai';
import { before, beforeEach, describe, it } from 'mocha';
import { readConfig } from '../../../composition/config.js';
import { parseDurationMs, parseSizeBytes } from '../../../composition/units.js';
import { serve, type TestPlant, TOKEN, toLines } from '../../support/client.js';
import { databasesOn, postgresServer } from '../../support/database-servers.js';
import { serverStore } from '../../support/engines.js';
import { type Executable, endProgramsAfterEach, Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { freePort, portOf } from '../../support/port.js';
import { exchange } from '../../support/raw-http.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { testOrSoak } from '../../support/soak.js';
import { readSqlitePlants } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { conclusive, type Operation, violationsOf } from '../history.js';
import { somePlant } from '../load.js';

const NAME = 'plants.example.org';
const CONFIGURATION = readFileSync(inRepository('docs/operate/nginx.conf'), 'utf8');

/** Limits in the configuration. */
const BURST = 200;
const MAX_CONNECTIONS = 100;

/** How long a client waits after 503. */
const RETRY_AFTER_MS = 20;
/** Number of restarts, alternately of two instances. */
const RESTARTS = testOrSoak(10, 100);

/** A response received through the proxy. */
interface ProxyResponse {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** 200, or the number of the Error object. */
  readonly outcome: unknown;
}

/** A relay between nginx and the service. */
interface Relay {
  readonly server: Server;
  readonly sockets: Socket[];
  /** Whether to destroy a connection when nginx reuses it for another request. */
  destroysReused: boolean;
}

describe('Behind nginx configured as in the guide', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'key.pem');
  let service: Executable;
  let servicePort: number;
  let httpPort: number;
  let httpsPort: number;
  let workFolder: string;
  let agent: Agent;

  before(function () {
    skipUnlessInstalled(this, 'nginx', '-v');
    skipUnlessInstalled(this, 'openssl', 'version');
    const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-keyout', key, '-out', certificate, ...subject],
    ]);
    expect(made.status, `${made.stderr}`).to.equal(0);
  });

  beforeEach(async () => {
    workFolder = mkdtempSync(join(folder, 'nginx-'));
    [httpPort, httpsPort] = [await freePort(), await freePort()];
    // Some tests restart the service on this port.
    servicePort = await freePort();
    service = serve(workFolder, { PORT: `${servicePort}` });
    await service.port();
    agent = new Agent({ keepAlive: true, ca: readFileSync(certificate), servername: NAME, maxSockets: 64 });
  });

  /** Starts nginx with the configuration of the guide, except for ports, paths and `changes`. */
  async function startNginx(
    ports: readonly number[] = [servicePort],
    changes: Readonly<Record<string, string>> = {},
  ): Promise<Program> {
    const replaced: Readonly<Record<string, string>> = {
      'listen 80;': `listen 127.0.0.1:${httpPort};`,
      'listen [::]:80;': '',
      'listen 443 ssl;': `listen 127.0.0.1:${httpsPort} ssl;`,
      'listen [::]:443 ssl;': '',
      'server 127.0.0.1:3000 max_fails=0;': ports.map((port) => `server 127.0.0.1:${port} max_fails=0;`).join('\n'),
      '/var/log/nginx/plant-store.log': join(workFolder, 'access.log'),
      '/etc/ssl/plants.example.org.pem': certificate,
      '/etc/ssl/private/plants.example.org.key': key,
      ...changes,
    };
    let configuration = CONFIGURATION;
    for (const [from, to] of Object.entries(replaced)) {
      expect(configuration.split(from), from).to.have.length(2);
      configuration = configuration.replace(from, to);
    }
    writeFileSync(join(workFolder, 'plant-store.conf'), configuration);
    const main = 'daemon off; pid nginx.pid; error_log stderr notice; events {} http { include plant-store.conf; }';
    writeFileSync(join(workFolder, 'nginx.conf'), main);
    const nginx = new Program(workFolder, ['nginx', '-p', workFolder, '-c', 'nginx.conf', '-e', 'stderr'], {});
    await nginx.waitForOutput(/start worker process \d/);
    expect(nginx.stderr).not.to.match(/\[(warn|error|emerg)\]/);
    return nginx;
  }

  /** Sends a request over TLS, with {@link TOKEN}. */
  async function send(body: string, { headers, ...options }: RequestOptions = {}): Promise<ProxyResponse> {
    const outgoing = request({
      ...{ agent, host: '127.0.0.1', port: httpsPort, method: 'POST', path: '/plants' },
      ...options,
      headers: { Host: NAME, Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
    });
    outgoing.end(body);
    const [incoming] = await once(outgoing, 'response');
    const response = await text(incoming);
    const outcome = incoming.statusCode === 200 ? 200 : JSON.parse(response).error;
    return { status: incoming.statusCode, headers: incoming.headers, body: response, outcome };
  }

  function plant(id: number, name = 'Monstera'): string {
    return JSON.stringify({ id, name });
  }

  /** Starts a relay between nginx and the service. */
  async function startRelay(): Promise<Relay> {
    const sockets: Socket[] = [];
    const state = { destroysReused: false };
    const server = createServer((socket) => {
      sockets.push(socket);
      const toService = connect(servicePort, '127.0.0.1');
      let isReused = false;
      socket.on('data', (chunk) => {
        if (isReused && state.destroysReused) socket.destroy();
        else toService.write(chunk);
        isReused = true;
      });
      toService.pipe(socket);
      for (const [closed, other] of [
        [socket, toService],
        [toService, socket],
      ] as const) {
        closed.on('error', () => {});
        closed.on('close', () => other.destroy());
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return Object.assign(state, { server, sockets });
  }

  it('limits and timeouts fit those of the service', () => {
    const { bodyLimitBytes, keepAliveTimeoutMs, storageTimeoutMs } = readConfig({});
    const [, upstream = '', rest = ''] = /^upstream([\s\S]*?)^}([\s\S]*)/m.exec(CONFIGURATION) ?? [];
    const value = (text: string, directive: string) => new RegExp(`\\b${directive} (\\w+);`).exec(text)?.[1] ?? '';
    expect(parseDurationMs(value(upstream, 'keepalive_timeout'))).to.be.below(keepAliveTimeoutMs);
    expect(parseDurationMs(value(rest, 'proxy_read_timeout'))).to.be.above(storageTimeoutMs);
    expect(parseSizeBytes(`${value(rest, 'client_max_body_size')}b`)).to.equal(bodyLimitBytes);
  });

  it('clients get the responses of the service to creates, duplicates and conflicts', async () => {
    await startNginx();
    const created = await send(plant(1));
    expect([created.outcome, created.body]).to.deep.equal([200, '{"name":"Monstera"}']);
    expect(created.headers['strict-transport-security']).to.match(/^max-age=\d+/);
    expect((await send(plant(1))).outcome).to.equal(40902);
    expect((await send(plant(1, 'Ficus'))).outcome).to.equal(40901);
    expect((await send(plant(2), { headers: { Authorization: '' } })).headers['www-authenticate']).to.match(/^Bearer /);
    expect((await send('', { method: 'GET', path: '/openapi.json', agent })).status).to.equal(200);
  });

  it('plain HTTP is redirected to HTTPS with a status that keeps the method', async () => {
    await startNginx();
    const response = await exchange(httpPort, `POST /plants HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n`);
    expect([response?.status, response?.headers['location']]).to.deep.equal([308, `https://${NAME}/plants`]);
  });

  it('a body within the limit is accepted, even chunked, and a larger one gets 413 with 41301', async () => {
    await startNginx();
    const large = 'x'.repeat(1000 * 1000);
    const tooLarge = 'x'.repeat(1100 * 1000);
    const chunked = { headers: { 'Transfer-Encoding': 'chunked' } };
    expect((await send(plant(1, large))).outcome).to.equal(200);
    expect((await send(plant(2, large), chunked)).outcome).to.equal(200);
    for (const options of [{}, chunked]) {
      const response = await send(plant(3, tooLarge), options);
      expect([response.status, response.outcome]).to.deep.equal([413, 41301]);
      expect(response.headers).to.include({ 'content-type': 'application/json' });
      expect(response.headers['x-request-id']).to.be.a('string');
    }
    expect(await readSqlitePlants(join(workFolder, 'plants.db'))).to.have.length(2);
  });

  it('rejections by nginx itself are Error objects', async () => {
    await startNginx();
    const headers = { 'X-Long': 'x'.repeat(40_000) };
    expect((await send(plant(1), { headers })).outcome).to.equal(43101);
    expect((await send('', { path: `/${'x'.repeat(40_000)}` })).outcome).to.equal(43101);
    expect((await send('', { method: 'TRACE' })).outcome).to.equal(40501);
    expect((await send('', { path: '/nginx-error/50302' })).outcome).to.equal(40401);
    expect((await send(plant(1), { headers: { Host: 'not a host' } })).outcome).to.equal(40000);
  });

  it('the response and both logs have the same request id, which is the id of the client if valid', async () => {
    const nginx = await startNginx();
    const ids = [
      (await send(plant(1), { headers: { 'X-Request-Id': 'made-by-the-client' } })).headers['x-request-id'],
      (await send(plant(2))).headers['x-request-id'],
      (await send(plant(3), { headers: { 'X-Request-Id': 'not a valid id' } })).headers['x-request-id'],
    ];
    expect(ids[0]).to.equal('made-by-the-client');
    expect(ids[2]).to.match(/^[0-9a-f]{32}$/);
    await nginx.kill('SIGQUIT').exited();
    await service.kill('SIGTERM').exited();
    const idsIn = (log: string) => toLines(log).map((line) => JSON.parse(line).requestId);
    expect(idsIn(readFileSync(join(workFolder, 'access.log'), 'utf8'))).to.deep.equal(ids);
    expect(idsIn(service.stderr).filter(Boolean)).to.deep.equal(ids);
  });

  it('a client above its rate gets 50302 with Retry-After', async () => {
    await startNginx([servicePort], { 'rate=100r/s': 'rate=1r/s' });
    const responses = await Promise.all(Array.from({ length: 2 * BURST }, (_, id) => send(plant(id))));
    const accepted = responses.filter(({ outcome }) => outcome === 200);
    const rejected = responses.filter(({ outcome }) => outcome === 50302);
    expect(accepted.length).to.be.above(BURST);
    expect(rejected.length).to.be.above(BURST / 2);
    expect(accepted.length + rejected.length).to.equal(responses.length);
    for (const { status, headers } of rejected) {
      expect(status).to.equal(503);
      expect(headers).to.include({ 'retry-after': '1', 'content-type': 'application/json' });
    }
  });

  it('a client with too many requests in flight gets 50302', async () => {
    await startNginx();
    const excess = 10;
    let rejected = 0;
    const sockets = Array.from({ length: MAX_CONNECTIONS + excess }, () => {
      const socket = connectTls({ port: httpsPort, ca: readFileSync(certificate), servername: NAME });
      socket.write(`POST /plants HTTP/1.1\r\nHost: ${NAME}\r\nContent-Length: 10\r\n\r\n`);
      return socket;
    });
    await new Promise<void>((resolve) => {
      for (const socket of sockets) {
        socket.once('data', (response) => {
          expect(`${response}`).to.match(/^HTTP\/1\.1 503 [\s\S]*"error":50302/);
          if (++rejected === excess) resolve();
        });
      }
    });
    expect((await send(plant(1))).outcome, 'another request').to.equal(50302);
    for (const socket of sockets) socket.destroy();
  });

  it('connections are reused on both sides', async () => {
    const { server, sockets } = await startRelay();
    await startNginx([portOf(server)]);
    const singleConnection = new Agent({
      keepAlive: true,
      ca: readFileSync(certificate),
      servername: NAME,
      maxSockets: 1,
    });
    const clientPorts = new Set<unknown>();
    singleConnection.on('free', (socket: Socket) => clientPorts.add(socket.localPort));
    for (let id = 1; id <= 20; id++) expect((await send(plant(id), { agent: singleConnection })).outcome).to.equal(200);
    expect([clientPorts.size, sockets.length]).to.deep.equal([1, 1]);
    singleConnection.destroy();
  });

  it('a create gets a response even if a reused connection breaks', async () => {
    const relay = await startRelay();
    await startNginx([portOf(relay.server)]);
    expect((await send(plant(1))).outcome).to.equal(200);
    relay.destroysReused = true;
    expect((await send(plant(2))).outcome).to.equal(200);
    expect(relay.sockets).to.have.length(2);
  });

  it('a create that the service does not respond to gets 503 with 50301 and is not sent again', async () => {
    let requests = 0;
    const unresponsive = createServer((socket) => socket.once('data', () => requests++)).listen(0, '127.0.0.1');
    await once(unresponsive, 'listening');
    unresponsive.unref();
    await startNginx([portOf(unresponsive), portOf(unresponsive)], {
      'proxy_read_timeout 15s;': 'proxy_read_timeout 200ms;',
    });
    const response = await send(plant(1));
    expect([response.status, response.outcome, response.headers['retry-after']]).to.deep.equal([503, 50301, '5']);
    expect(requests).to.equal(1);
  });

  /** Starts a listener that responds with 503 after `afterMs` and counts its requests. */
  async function startUnavailable(error: number, afterMs = 0): Promise<{ readonly port: number; requests(): number }> {
    let requests = 0;
    const body = JSON.stringify({ error, message: 'unavailable' });
    const head = 'HTTP/1.1 503 \r\nContent-Type: application/json\r\nRetry-After: 7\r\nConnection: close\r\n';
    const server = createServer((socket) => {
      socket.once('data', async () => {
        requests++;
        await setTimeout(afterMs);
        socket.end(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return { port: portOf(server), requests: () => requests };
  }

  for (const error of [50301, 50302, 50303]) {
    it(`a create that one instance rejected with ${error} is sent to another`, async () => {
      const unavailable = await startUnavailable(error);
      await startNginx([unavailable.port, servicePort]);
      for (let id = 1; id <= 10; id++) expect((await send(plant(id))).outcome).to.equal(200);
      expect(unavailable.requests()).to.be.above(0);
    });
  }

  it('a create that two instances rejected gets their response and is not sent to a third', async () => {
    const instances = await Promise.all([50303, 50303, 50303].map((error) => startUnavailable(error)));
    await startNginx(instances.map(({ port }) => port));
    const response = await send(plant(1));
    expect([response.outcome, response.headers['retry-after']]).to.deep.equal([50303, '7']);
    expect(instances.map((instance) => instance.requests()).filter(Boolean)).to.deep.equal([1, 1]);
  });

  it('a create that one instance rejected late gets that response and is not sent to another', async () => {
    const instances = await Promise.all([1, 2].map(() => startUnavailable(50301, 400)));
    const changes = { 'proxy_next_upstream_timeout 5s;': 'proxy_next_upstream_timeout 200ms;' };
    await startNginx(
      instances.map(({ port }) => port),
      changes,
    );
    expect((await send(plant(1))).outcome).to.equal(50301);
    expect(instances.map((instance) => instance.requests()).filter(Boolean)).to.deep.equal([1]);
  });

  /** Clients that create plants until they are stopped and retry after 503, and the history of their creates. */
  class ProxyLoad {
    readonly outcomes = new Set<unknown>();
    readonly #history: Operation[] = [];
    readonly #events = new EventEmitter();
    readonly #done: Promise<unknown>;
    #stored = 0;
    #plants = 0;
    #isStopped = false;

    constructor() {
      this.#done = Promise.all(Array.from({ length: 8 }, () => this.#send()));
    }

    /** Stops every client after its current response. */
    stop(): Promise<unknown> {
      this.#isStopped = true;
      return this.#done;
    }

    async #send(): Promise<void> {
      let sent: TestPlant | undefined;
      while (!this.#isStopped) {
        sent ??= somePlant(this.#plants++);
        const { outcome, headers } = await this.#create(sent);
        if (conclusive.includes(outcome)) sent = undefined;
        else {
          expect(headers['retry-after'], `${outcome}`).to.match(/^\d$/);
          await setTimeout(RETRY_AFTER_MS);
        }
      }
    }

    async #create(sent: TestPlant): Promise<ProxyResponse> {
      const { id, ...texts } = sent;
      const sentAt = performance.now();
      const response = await send(`{"id":${id},${JSON.stringify(texts).slice(1)}`);
      const operation = { plant: sent, sentAt, endedAt: performance.now() };
      // nginx sends a create again after an error, so the plant of a 40902 may be from the first attempt.
      if (response.outcome === 40902) this.#history.push({ ...operation, outcome: undefined });
      this.#history.push({ ...operation, outcome: response.outcome });
      this.outcomes.add(response.outcome);
      if (response.outcome === 200) this.#stored++;
      this.#events.emit('response');
      return response;
    }

    /** Waits until `count` more plants are stored. */
    async waitForStored(count: number): Promise<void> {
      const target = this.#stored + count;
      while (this.#stored < target) await once(this.#events, 'response');
    }

    /** Expects the history to be consistent with the plants in the store. */
    expectNoViolations(stored: readonly TestPlant[]): void {
      expect(stored).to.have.length.of.at.least(this.#stored);
      expect(violationsOf(this.#history, stored)).to.deep.equal([]);
    }
  }
  /** Disables rate limiting. */
  const withoutRateLimit = { 'rate=100r/s': 'rate=1000000r/s' };

  it('clients get 503 with Retry-After while the service restarts, and no plant is lost', async () => {
    await startNginx([servicePort], withoutRateLimit);
    const load = new ProxyLoad();
    await load.waitForStored(100);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    service = serve(workFolder, { PORT: `${servicePort}` });
    await service.port();
    await load.waitForStored(100);
    await load.stop();
    expect([...conclusive, 50301, 50303]).to.include.members([...load.outcomes]);
    expect(load.outcomes).to.include(50301);
    load.expectNoViolations(await readSqlitePlants(join(workFolder, 'plants.db')));
  });

  describe('with two instances on PostgreSQL', () => {
    const databases = databasesOn(postgresServer);

    it(`clients get only 200 and 409 during ${RESTARTS} restarts in turn, and no plant is lost`, async function () {
      this.timeout(120_000);
      const url = await databases.create();
      const start = async (port: string) => {
        const instance = serve(workFolder, { DATABASE_URL: url, PORT: port });
        return { instance, port: await instance.port() };
      };
      const instances = [await start('0'), await start('0')];
      await startNginx(
        instances.map(({ port }) => port),
        withoutRateLimit,
      );
      const load = new ProxyLoad();
      for (let restart = 0; restart < RESTARTS; restart++) {
        await load.waitForStored(100);
        const [next] = instances.splice(0, 1);
        expect(await next?.instance.kill('SIGTERM').exited()).to.equal(0);
        await load.waitForStored(20);
        instances.push(await start(`${next?.port}`));
      }
      await load.waitForStored(100);
      await load.stop();
      expect(conclusive).to.include.members([...load.outcomes]);
      load.expectNoViolations(await serverStore(url, 'pg', databases.connect(url)).readPlants());
    });
  });
});
