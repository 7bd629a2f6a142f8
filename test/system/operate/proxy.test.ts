import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as requestTls } from 'node:https';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { readConfig, settings } from '../../../composition/config.js';
import { CREATE_HEADERS, create, createRequest, serve, toLines } from '../../support/client.js';
import type { Program } from '../../support/executable.js';
import { portOf } from '../../support/port.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';
import { waitUntil } from '../../support/wait-until.js';
import { CONFIGURATION, createCertificate, NAME, startNginx } from './nginx.js';

/** Limits in the configuration. */
const BURST = 200;
const MAX_CONNECTIONS = 100;

describe('Behind nginx configured as in the guide', () => {
  const folder = temporaryFolder();
  let service: Program;
  let servicePort: number;
  let lastId = 0n;

  before(async function () {
    createCertificate(this, folder);
    service = serve(folder, { DATABASE_URL: 'memory:' });
    servicePort = await service.port();
  });

  const plant = (name = 'Monstera') => ({ id: ++lastId, name });
  const start = async (ports = [servicePort], changes = {}) => (await startNginx(folder, ports, { changes })).port;

  const createOver = (client: RawClient) => client.send(createRequest(plant())).readResponse();

  /** Starts a server in place of an instance, and counts the connections that sent a request. */
  async function startStub(onConnection: (socket: Socket) => void): Promise<{ port: number; requests(): number }> {
    let requests = 0;
    const server = createServer((socket) => {
      socket.on('error', () => {}).once('data', () => requests++);
      onConnection(socket);
    });
    server.unref().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: portOf(server), requests: () => requests };
  }
  /** Starts an instance that responds with 503 after `afterMs`. */
  const startUnavailable = (error: number, afterMs = 0) =>
    startStub((socket) =>
      socket.once('data', async () => {
        await setTimeout(afterMs);
        const body = JSON.stringify({ error, message: 'unavailable' });
        const head = 'HTTP/1.1 503 \r\nContent-Type: application/json\r\nRetry-After: 7\r\nConnection: close\r\n';
        socket.end(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
      }),
    );

  it('limits and timeouts fit those of the service', () => {
    const { bodyLimitBytes, keepAliveTimeoutMs, storageTimeoutMs } = readConfig({});
    const [, upstream = '', rest = ''] = /^upstream([\s\S]*?)^}([\s\S]*)/m.exec(CONFIGURATION) ?? [];
    const value = (part: string, directive: string) => new RegExp(`\\b${directive} (\\w+);`).exec(part)?.[1] ?? '';
    const { parse } = settings.keepAliveTimeoutMs;
    expect(parse(value(upstream, 'keepalive_timeout'))).to.be.below(keepAliveTimeoutMs);
    expect(parse(value(rest, 'proxy_read_timeout'))).to.be.above(storageTimeoutMs);
    expect(settings.bodyLimitBytes.parse(`${value(rest, 'client_max_body_size')}b`)).to.equal(bodyLimitBytes);
  });

  it('clients get the responses of the service over TLS; plain HTTP is redirected and keeps its method', async () => {
    const { port, redirectPort } = await startNginx(folder, [servicePort], { isTls: true });
    const outgoing = requestTls({
      ...{ host: '127.0.0.1', port, servername: NAME, ca: readFileSync(join(folder, 'certificate.pem')) },
      ...{ method: 'POST', path: '/plants', headers: { Host: NAME, ...CREATE_HEADERS } },
    });
    outgoing.end('{"id":-1,"name":"Monstera"}');
    const [response] = await once(outgoing, 'response');
    expect([response.statusCode, await text(response)]).to.deep.equal([200, '{"name":"Monstera"}']);
    expect(response.headers['strict-transport-security']).to.match(/^max-age=\d+/);
    const redirect = await exchange(redirectPort, 'POST /plants HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n');
    expect([redirect?.status, redirect?.headers['location']]).to.deep.equal([308, `https://${NAME}/plants`]);
  });

  it('a body within the limit is accepted, even chunked, and a larger one gets 413 with 41301', async () => {
    const port = await start();
    for (const [length, outcome] of [
      [1_000_000, 200],
      [1_100_000, 41301],
    ] as const) {
      const body = `{"id":${++lastId},"name":"${'x'.repeat(length)}"}`;
      const chunks = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
      const chunked = request('POST /plants', { ...CREATE_HEADERS, 'Transfer-Encoding': 'chunked' }, chunks);
      for (const bytes of [chunked, createRequest(plant('x'.repeat(length)))]) {
        const response = await exchange(port, bytes);
        expect(response?.outcome).to.equal(outcome);
        expect(response?.headers).to.include({ 'content-type': 'application/json' }).and.have.property('x-request-id');
      }
    }
  });

  it('rejections by nginx itself are Error objects', async () => {
    const port = await start();
    const long = 'x'.repeat(40_000);
    for (const [startLine, headers, outcome] of [
      ['POST /plants', { 'X-Long': long }, 43101],
      [`POST /${long}`, {}, 43101],
      ['TRACE /plants', {}, 40501],
      ['POST /nginx-error/50302', {}, 40401],
      ['POST /plants', { Host: 'not a host' }, 40000],
    ] as const)
      expect((await exchange(port, request(startLine, { ...CREATE_HEADERS, ...headers })))?.outcome).to.equal(outcome);
  });

  it('the response and both logs have the same request id, which is the id of the client if valid', async () => {
    const { program, port, accessLog } = await startNginx(folder, [servicePort]);
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
    const changes = { 'rate=100r/s': 'rate=1r/m' };
    const { port, errorLog, accessLog } = await startNginx(folder, [servicePort], { changes });
    const client = await RawClient.connect(port);
    for (let sent = 0; sent <= BURST; sent++) expect((await createOver(client))?.outcome).to.equal(200);
    const rejected = await createOver(client);
    expect([rejected?.outcome, rejected?.headers['retry-after']]).to.deep.equal([50302, '1']);
    const limits = `100 requests per second, with bursts of ${BURST}, and to ${MAX_CONNECTIONS} at once`;
    expect(rejected?.json()).to.have.property('message', `This address is limited to ${limits}; retry later`);
    expect(CONFIGURATION).to.match(
      RegExp(`rate=100r/s;[^]* burst=${BURST} [^]*plant_store_connections ${MAX_CONNECTIONS};`),
    );
    client.close();
    await waitUntil('the access log has the rejection', async () =>
      /"status":503,.*"upstream":"","upstreamStatus":""}\n$/.test(readFileSync(accessLog, 'utf8')),
    );
    expect(readFileSync(errorLog, 'utf8')).to.equal('');
  });

  it('a client with too many requests in flight gets 50302', async () => {
    const port = await start();
    const head = request('POST /plants', { ...CREATE_HEADERS, Host: NAME, 'Content-Length': '10' });
    const clients = await Promise.all(Array.from({ length: MAX_CONNECTIONS + 1 }, () => RawClient.connect(port)));
    const first = await Promise.race(clients.map((client) => client.send(head).readResponse()));
    expect(first?.outcome).to.equal(50302);
    for (const client of clients) client.close();
  });

  it('a create gets a response even if a reused connection breaks', async () => {
    const relay = await startStub((socket) => {
      socket.once('data', (chunk) => {
        const toService = connect(servicePort, '127.0.0.1').on('error', () => {});
        toService.pipe(socket).once('close', () => toService.destroy());
        toService.write(chunk);
        socket.once('data', () => socket.destroy());
      });
    });
    const client = await RawClient.connect(await start([relay.port]));
    for (let times = 0; times < 3; times++) expect((await createOver(client))?.outcome).to.equal(200);
    expect(relay.requests()).to.equal(3);
    client.close();
  });

  for (const error of [50301, 50302]) {
    it(`a create that one instance rejected with ${error} is sent to another`, async () => {
      const unavailable = await startUnavailable(error);
      const port = await start([unavailable.port, servicePort]);
      for (let times = 0; times < 10; times++) expect((await create(port, plant()))?.outcome).to.equal(200);
      expect(unavailable.requests()).to.be.above(0);
    });
  }

  for (const [what, startInstance, limits, attempts, response] of [
    ['two instances rejected is not sent to a third', () => startUnavailable(50302), {}, 2, [50302, '7']],
    [
      'one instance rejected late is not sent to another, and gets its response',
      () => startUnavailable(50302, 400),
      { 'proxy_next_upstream_timeout 5s;': 'proxy_next_upstream_timeout 200ms;' },
      1,
      [50302, '7'],
    ],
    [
      'one instance does not respond to gets 50301 and is not sent again',
      () => startStub(() => {}),
      { 'proxy_read_timeout 15s;': 'proxy_read_timeout 200ms;' },
      1,
      [50301, '5'],
    ],
  ] as const) {
    it(`a create that ${what}`, async () => {
      const instances = await Promise.all([1, 2, 3].map(startInstance));
      const ports = instances.map(({ port }) => port);
      const { outcome, headers } = (await create(await start(ports, limits), plant())) ?? {};
      expect([outcome, headers?.['retry-after']]).to.deep.equal(response);
      expect(instances.filter(({ requests }) => requests() > 0)).to.have.length(attempts);
    });
  }
});
