import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request as requestTls } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CREATE_HEADERS, create, createRequest, serve, toLines } from '../../support/client.js';
import type { Program } from '../../support/executable.js';
import { portOf } from '../../support/port.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';
import { createCertificate, NAME, startNginx } from './nginx.js';

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

  /** Starts a server in place of an instance, and counts its requests. */
  async function startStub(onRequest: (socket: Socket) => void): Promise<{ port: number; requests(): number }> {
    let requests = 0;
    const server = createServer((socket) => {
      socket
        .on('error', () => {})
        .once('data', () => {
          requests++;
          onRequest(socket);
        });
    });
    server.unref().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { port: portOf(server), requests: () => requests };
  }
  const startOverloaded = () =>
    startStub((socket) => {
      const body = '{"error":50302,"message":"overloaded"}';
      const head = 'HTTP/1.1 503 \r\nContent-Type: application/json\r\nRetry-After: 7\r\nConnection: close\r\n';
      socket.end(`${head}Content-Length: ${body.length}\r\n\r\n${body}`);
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
    const redirect = await exchange(redirectPort, 'POST /plants HTTP/1.1\r\nHost: elsewhere.example\r\n\r\n');
    expect([redirect?.status, redirect?.headers['location']]).to.deep.equal([308, `https://${NAME}/plants`]);
  });

  it('bodies up to the limit are accepted, and rejections by nginx itself are Error objects', async () => {
    const { port } = await startNginx(folder, [servicePort]);
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
    const changes = { 'rate=100r/s': 'rate=1r/m', 'burst=200': 'burst=1' };
    const { port } = await startNginx(folder, [servicePort], { changes });
    const client = await RawClient.connect(port);
    const createNext = () => client.send(createRequest(plant())).readResponse();
    for (let sent = 0; sent < 2; sent++) expect((await createNext())?.outcome).to.equal(200);
    const rejected = await createNext();
    expect([rejected?.outcome, rejected?.headers['retry-after']]).to.deep.equal([50302, '1']);
    client.close();
  });

  it('a create that one instance rejected is sent to another, but to no third', async () => {
    const overloaded = await startOverloaded();
    const { port } = await startNginx(folder, [overloaded.port, servicePort]);
    for (let times = 0; times < 10; times++) expect((await create(port, plant()))?.outcome).to.equal(200);
    expect(overloaded.requests()).to.be.above(0);

    const instances = [await startOverloaded(), await startOverloaded(), await startOverloaded()];
    const three = await startNginx(
      folder,
      instances.map((instance) => instance.port),
    );
    const { outcome, headers } = (await create(three.port, plant())) ?? {};
    expect([outcome, headers?.['retry-after']]).to.deep.equal([50302, '7']);
    expect(instances.filter(({ requests }) => requests() > 0)).to.have.length(2);
  });

  it('a create that one instance does not respond to gets 50301, and is not sent again', async () => {
    const instances = [await startStub(() => {}), await startStub(() => {})];
    const ports = instances.map((instance) => instance.port);
    const changes = { 'proxy_read_timeout 15s;': 'proxy_read_timeout 200ms;' };
    const { port } = await startNginx(folder, ports, { changes });
    const { outcome, headers } = (await create(port, plant())) ?? {};
    expect([outcome, headers?.['retry-after']]).to.deep.equal([50301, '5']);
    expect(instances.filter(({ requests }) => requests() > 0)).to.have.length(1);
  });
});
