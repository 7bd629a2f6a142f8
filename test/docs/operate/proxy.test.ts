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
import { durationMs, sizeBytes } from '../../../composition/units.js';
import { type Executable, endProgramsAfterEach, Program } from '../../support/executable.js';
import { needsProgram } from '../../support/needs.js';
import { inRepository } from '../../support/paths.js';
import { freePort } from '../../support/private-server.js';
import { exchange } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';
import { linesOf, serve, TOKEN } from '../../system/client.js';
import { plantsIn } from '../../system/sqlite-file.js';

const NAME = 'plants.example.org';
const CONFIGURATION = readFileSync(inRepository('docs/operate/nginx.conf'), 'utf8');

/** What the configuration has of them. */
const BURST = 200;
const CONNECTIONS_MAX = 100;

/** How long a client waits after 503, in milliseconds. */
const RETRY_AFTER_MS = 20;

/** An answer that came through the proxy. */
interface ProxyAnswer {
  readonly status: number | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The number of the Error object, or the status where it is none. */
  readonly outcome: unknown;
}

/** The connections from the proxy to a service. */
interface Between {
  readonly server: Server;
  readonly sockets: Socket[];
  /** Cuts off each connection that is used again, when the next request comes on it. */
  cutsReused: boolean;
}

describe('Behind nginx, configured as in the guide', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const certificate = join(folder, 'certificate.pem');
  const key = join(folder, 'key.pem');
  let service: Executable;
  let servicePort: number;
  let httpPort: number;
  let httpsPort: number;
  let place: string;
  let agent: Agent;

  before(function () {
    needsProgram(this, 'nginx', '-v');
    needsProgram(this, 'openssl', 'version');
    const subject = ['-subj', `/CN=${NAME}`, '-addext', `subjectAltName=DNS:${NAME}`];
    const made = spawnSync('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-keyout', key, '-out', certificate, ...subject],
    ]);
    expect(made.status, `${made.stderr}`).to.equal(0);
  });

  beforeEach(async () => {
    place = mkdtempSync(join(folder, 'nginx-'));
    [httpPort, httpsPort] = [await freePort(), await freePort()];
    service = serve(place);
    servicePort = await service.port();
    agent = new Agent({ keepAlive: true, ca: readFileSync(certificate), servername: NAME, maxSockets: 64 });
  });

  /** Starts nginx with the configuration of the guide, in which nothing but places and `changes` are others. */
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
      '/var/log/nginx/plant-store.log': join(place, 'access.log'),
      '/etc/ssl/plants.example.org.pem': certificate,
      '/etc/ssl/private/plants.example.org.key': key,
      ...changes,
    };
    let configuration = CONFIGURATION;
    for (const [from, to] of Object.entries(replaced)) {
      expect(configuration.split(from), from).to.have.length(2);
      configuration = configuration.replace(from, to);
    }
    writeFileSync(join(place, 'plant-store.conf'), configuration);
    const main = 'daemon off; pid nginx.pid; error_log stderr notice; events {} http { include plant-store.conf; }';
    writeFileSync(join(place, 'nginx.conf'), main);
    const nginx = new Program(place, ['nginx', '-p', place, '-c', 'nginx.conf', '-e', 'stderr'], {});
    await nginx.says(/start worker process \d/);
    expect(nginx.stderr).not.to.match(/\[(warn|error|emerg)\]/);
    return nginx;
  }

  /** Sends a request over TLS, with {@link TOKEN}. */
  async function send(body: string, { headers, ...options }: RequestOptions = {}): Promise<ProxyAnswer> {
    const outgoing = request({
      ...{ agent, host: '127.0.0.1', port: httpsPort, method: 'POST', path: '/plants' },
      ...options,
      headers: { Host: NAME, Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', ...headers },
    });
    outgoing.end(body);
    const [incoming] = await once(outgoing, 'response');
    const answer = await text(incoming);
    const outcome = incoming.statusCode === 200 ? 200 : JSON.parse(answer).error;
    return { status: incoming.statusCode, headers: incoming.headers, body: answer, outcome };
  }

  function plant(id: number, name = 'Monstera'): string {
    return JSON.stringify({ id, name });
  }

  /** Stands between nginx and the service. */
  async function between(): Promise<Between> {
    const sockets: Socket[] = [];
    const state = { cutsReused: false };
    const server = createServer((socket) => {
      sockets.push(socket);
      const to = connect(servicePort, '127.0.0.1');
      let used = false;
      socket.on('data', (chunk) => {
        if (used && state.cutsReused) socket.destroy();
        else to.write(chunk);
        used = true;
      });
      to.pipe(socket);
      for (const [one, other] of [
        [socket, to],
        [to, socket],
      ] as const) {
        one.on('error', () => {});
        one.on('close', () => other.destroy());
      }
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    server.unref();
    return Object.assign(state, { server, sockets });
  }

  function portOf(server: Server): number {
    const address = server.address();
    return typeof address === 'object' ? (address?.port ?? 0) : 0;
  }

  it('its limits and times fit those of the service', () => {
    const { bodyLimitBytes, keepAliveTimeoutMs, storageTimeoutMs } = readConfig({});
    const [, upstream = '', rest = ''] = /^upstream([\s\S]*?)^}([\s\S]*)/m.exec(CONFIGURATION) ?? [];
    const value = (text: string, directive: string) => new RegExp(`\\b${directive} (\\w+);`).exec(text)?.[1] ?? '';
    expect(durationMs(value(upstream, 'keepalive_timeout'))).to.be.below(keepAliveTimeoutMs);
    expect(durationMs(value(rest, 'proxy_read_timeout'))).to.be.above(storageTimeoutMs);
    expect(sizeBytes(`${value(rest, 'client_max_body_size')}b`)).to.equal(bodyLimitBytes);
  });

  it('a plant is created, and found to be there', async () => {
    await startNginx();
    const created = await send(plant(1));
    expect([created.outcome, created.body]).to.deep.equal([200, '{"name":"Monstera"}']);
    expect(created.headers['strict-transport-security']).to.match(/^max-age=\d+/);
    expect((await send(plant(1))).outcome).to.equal(40902);
    expect((await send(plant(1, 'Ficus'))).outcome).to.equal(40901);
    expect((await send(plant(2), { headers: { Authorization: '' } })).headers['www-authenticate']).to.match(/^Bearer /);
    expect((await send('', { method: 'GET', path: '/openapi.json', agent })).status).to.equal(200);
  });

  it('who comes without TLS is sent to https, with the method that it had', async () => {
    await startNginx();
    const answer = await exchange(httpPort, `POST /plants HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n`);
    expect([answer?.status, answer?.headers['location']]).to.deep.equal([308, `https://${NAME}/plants`]);
  });

  it('a large body is taken, in pieces too, and one that is too large is refused with an Error object', async () => {
    await startNginx();
    const large = 'x'.repeat(1000 * 1000);
    const tooLarge = 'x'.repeat(1100 * 1000);
    const chunked = { headers: { 'Transfer-Encoding': 'chunked' } };
    expect((await send(plant(1, large))).outcome).to.equal(200);
    expect((await send(plant(2, large), chunked)).outcome).to.equal(200);
    for (const options of [{}, chunked]) {
      const answer = await send(plant(3, tooLarge), options);
      expect([answer.status, answer.outcome]).to.deep.equal([413, 41301]);
      expect(answer.headers).to.include({ 'content-type': 'application/json' });
      expect(answer.headers['x-request-id']).to.be.a('string');
    }
    expect(await plantsIn(join(place, 'plants.db'))).to.have.length(2);
  });

  it('what nginx refuses by itself is an Error object', async () => {
    await startNginx();
    const headers = { 'X-Long': 'x'.repeat(40_000) };
    expect((await send(plant(1), { headers })).outcome).to.equal(43101);
    expect((await send('', { path: `/${'x'.repeat(40_000)}` })).outcome).to.equal(43101);
    expect((await send('', { method: 'TRACE' })).outcome).to.equal(40501);
    expect((await send('', { path: '/nginx-error/50302' })).outcome).to.equal(40401);
    expect((await send(plant(1), { headers: { Host: 'not a host' } })).outcome).to.equal(40000);
  });

  it('one id is in the answer, in the log of nginx and in that of the service, the client’s own where it is one', async () => {
    const nginx = await startNginx();
    const ids = [
      (await send(plant(1), { headers: { 'X-Request-Id': 'made-by-the-client' } })).headers['x-request-id'],
      (await send(plant(2))).headers['x-request-id'],
      (await send(plant(3), { headers: { 'X-Request-Id': 'no id at all' } })).headers['x-request-id'],
    ];
    expect(ids[0]).to.equal('made-by-the-client');
    expect(ids[2]).to.match(/^[0-9a-f]{32}$/);
    await nginx.kill('SIGQUIT').exited();
    await service.kill('SIGTERM').exited();
    const idsIn = (log: string) => linesOf(log).map((line) => JSON.parse(line).requestId);
    expect(idsIn(readFileSync(join(place, 'access.log'), 'utf8'))).to.deep.equal(ids);
    expect(idsIn(service.stderr).filter(Boolean)).to.deep.equal(ids);
  });

  it('who sends more than its rate is told 50302 and when to come again', async () => {
    await startNginx([servicePort], { 'rate=100r/s': 'rate=1r/s' });
    const answers = await Promise.all(Array.from({ length: 2 * BURST }, (_, id) => send(plant(id))));
    const taken = answers.filter(({ outcome }) => outcome === 200);
    const refused = answers.filter(({ outcome }) => outcome === 50302);
    expect(taken.length).to.be.above(BURST);
    expect(refused.length).to.be.above(BURST / 2);
    expect(taken.length + refused.length).to.equal(answers.length);
    for (const { status, headers } of refused) {
      expect(status).to.equal(503);
      expect(headers).to.include({ 'retry-after': '1', 'content-type': 'application/json' });
    }
  });

  it('who has too many requests under way at once is told the same', async () => {
    await startNginx();
    const extra = 10;
    let refused = 0;
    const sockets = Array.from({ length: CONNECTIONS_MAX + extra }, () => {
      const socket = connectTls({ port: httpsPort, ca: readFileSync(certificate), servername: NAME });
      socket.write(`POST /plants HTTP/1.1\r\nHost: ${NAME}\r\nContent-Length: 10\r\n\r\n`);
      return socket;
    });
    await new Promise<void>((resolve) => {
      for (const socket of sockets) {
        socket.once('data', (answer) => {
          expect(`${answer}`).to.match(/^HTTP\/1\.1 503 [\s\S]*"error":50302/);
          if (++refused === extra) resolve();
        });
      }
    });
    expect((await send(plant(1))).outcome, 'one more').to.equal(50302);
    for (const socket of sockets) socket.destroy();
  });

  it('connections are used again, on both sides', async () => {
    const { server, sockets } = await between();
    await startNginx([portOf(server)]);
    const one = new Agent({ keepAlive: true, ca: readFileSync(certificate), servername: NAME, maxSockets: 1 });
    const clientPorts = new Set<unknown>();
    one.on('free', (socket: Socket) => clientPorts.add(socket.localPort));
    for (let id = 1; id <= 20; id++) expect((await send(plant(id), { agent: one })).outcome).to.equal(200);
    expect([clientPorts.size, sockets.length]).to.deep.equal([1, 1]);
    one.destroy();
  });

  it('a connection that breaks as it is used again costs nobody an answer', async () => {
    const line = await between();
    await startNginx([portOf(line.server)]);
    expect((await send(plant(1))).outcome).to.equal(200);
    line.cutsReused = true;
    expect((await send(plant(2))).outcome).to.equal(200);
    expect(line.sockets).to.have.length(2);
  });

  it('a service that does not answer in time is 503 with 50301, and the plant is not sent again', async () => {
    let requests = 0;
    const silent = createServer((socket) => socket.once('data', () => requests++)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    silent.unref();
    await startNginx([portOf(silent), portOf(silent)], { 'proxy_read_timeout 15s;': 'proxy_read_timeout 200ms;' });
    const answer = await send(plant(1));
    expect([answer.status, answer.outcome, answer.headers['retry-after']]).to.deep.equal([503, 50301, '5']);
    expect(requests).to.equal(1);
  });

  /** Creates plants, again where it is told to, until it is stopped. */
  class Client {
    readonly outcomes = new Map<unknown, number>();
    readonly stored: number[] = [];
    readonly #events = new EventEmitter();
    readonly #done: Promise<unknown>;
    #isStopped = false;

    constructor() {
      this.#done = Promise.all([1, 2, 3, 4].map((number) => this.#create(number * 1_000_000)));
    }

    stop(): Promise<unknown> {
      this.#isStopped = true;
      return this.#done;
    }

    async #create(first: number): Promise<void> {
      for (let id = first; !this.#isStopped; ) {
        const { outcome, headers } = await send(plant(id));
        this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
        if (outcome === 200 || outcome === 40902) this.stored.push(id++);
        else expect(headers['retry-after']).to.match(/^\d$/);
        if (outcome === 50301 || outcome === 50303) await setTimeout(RETRY_AFTER_MS);
        this.#events.emit('answer');
      }
    }

    /** Resolves when so many more are stored. */
    async more(count: number): Promise<void> {
      const target = this.stored.length + count;
      while (this.stored.length < target) await once(this.#events, 'answer');
    }
  }
  /** Faster than any client: what is looked at is something else. */
  const noRate = { 'rate=100r/s': 'rate=1000000r/s' };

  it('the service is restarted: clients are told 503 and when to come again, and no plant is lost', async () => {
    await startNginx([servicePort], noRate);
    const client = new Client();
    await client.more(100);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    service = serve(place, { PORT: `${servicePort}` });
    await service.port();
    await client.more(100);
    await client.stop();
    expect([200, 40902, 50301, 50303]).to.include.members([...client.outcomes.keys()]);
    expect(client.outcomes.get(50301)).to.be.above(0);
    const ids = new Set((await plantsIn(join(place, 'plants.db'))).map(({ id }) => Number(id)));
    expect(client.stored.filter((id) => !ids.has(id))).to.deep.equal([]);
  });

  it('two instances are restarted, one after the other: whoever heeds 503 is always served', async () => {
    const ports = [servicePort, await freePort()] as const;
    let other = serve(place, { PORT: `${ports[1]}` });
    await other.port();
    await startNginx(ports, noRate);
    const client = new Client();
    await client.more(100);
    expect(await other.kill('SIGTERM').exited()).to.equal(0);
    await client.more(100);
    other = serve(place, { PORT: `${ports[1]}` });
    await other.port();
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    service = serve(place, { PORT: `${ports[0]}` });
    await service.port();
    await client.more(100);
    await client.stop();
    expect([200, 40902, 50303], 'never 50301').to.include.members([...client.outcomes.keys()]);
  });
});
