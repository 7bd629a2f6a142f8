import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { ContractViolation, checkHttpTarget, httpContract } from '../contract/http/index.js';
import { catchError } from '../support/catch-error.js';
import { serve } from '../support/client.js';
import { portOf } from '../support/port.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { type HttpFault, httpFaults } from './http-faults.js';

/** Topics whose cases depend on the path prefix. */
const PREFIX_TOPICS = ['specification', 'paths', 'description'];

/** In place of a case that does not exist. */
const missing = Promise.resolve('no such case');

const editChunks = (change: (text: string) => string) =>
  new Transform({
    transform: (chunk: Buffer, _, done) => done(null, Buffer.from(change(chunk.toString('latin1')), 'latin1')),
  });

const toTarget = (port: number, path = '') => ({ baseUrl: `http://127.0.0.1:${port}${path}`, token: TOKEN });

describe('The contract of the HTTP API', () => {
  const proxies: ReturnType<typeof createServer>[] = [];
  const folder = temporaryFolder();
  let port: number;
  before(async () => {
    // A case sends the token as a path, which is in the access log.
    const settings = { BASE_PATH: '/garden', DATABASE_URL: 'memory:', ACCESS_LOG: 'off' };
    port = await serve(folder, settings).port();
  });
  after(() => {
    for (const proxy of proxies) proxy.close();
  });

  /** Starts a proxy with a fault, and returns its port. */
  const startProxy = async ({ request: change, respond, response: changeResponse }: HttpFault) => {
    const proxy = createServer((client) => {
      const server = connect({ port, host: '127.0.0.1' });
      let request = '';
      const toServer = editChunks((text) => {
        request = text;
        const reply = respond?.(text);
        if (reply === undefined) return change?.(text) ?? text;
        client.end(reply, 'latin1');
        return '';
      });
      client.pipe(toServer).pipe(server);
      server.pipe(editChunks((text) => changeResponse?.(text, request) ?? text)).pipe(client);
      for (const socket of [client, server]) socket.on('error', () => {});
    });
    proxies.push(proxy);
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    return portOf(proxy);
  };

  describe('accepts a correct service with a path prefix:', () => {
    for (const { topic, name, timeoutMs, run } of httpContract)
      if (PREFIX_TOPICS.includes(topic)) it(name, () => run(toTarget(port, '/garden/'))).timeout(timeoutMs);
  });

  describe('finds a fault that breaks a case:', () => {
    for (const [name, fault] of Object.entries(httpFaults(TOKEN)))
      it(name, async () => {
        const target = toTarget(await startProxy(fault), '/garden');
        const error = await catchError(httpContract.find((each) => each.name === name)?.run(target) ?? missing);
        expect(error).to.be.instanceOf(ContractViolation);
        expect(String(error))
          .to.match(/expected .*; received /)
          .and.not.include(TOKEN);
      });
  });

  it('has unique names', () => {
    expect(new Set(httpContract.map(({ name }) => name))).to.have.lengthOf(httpContract.length);
  });

  it('has a check that reports a service that does not listen, lacks /plants or does not accept the token', async () => {
    const nothing = { baseUrl: 'http://127.0.0.1:1', token: TOKEN };
    const wrongToken = { ...toTarget(port, '/garden'), token: 'wrong' };
    expect(`${await catchError(checkHttpTarget(nothing))}`).to.match(/\/plants: connect ECONNREFUSED 127.0.0.1:1$/);
    expect(`${await catchError(checkHttpTarget(toTarget(port)))}`).to.match(/does not exist \(status 404\)/);
    expect(`${await catchError(checkHttpTarget(wrongToken))}`).to.match(/does not accept the token/);
  });

  it('never reports the token, even if the service returns it', async () => {
    const echo = createHttpServer((req, res) => {
      res.writeHead(400, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ error: 1, message: req.headers.authorization, name: req.headers.authorization }));
    });
    await once(echo.listen(0, '127.0.0.1'), 'listening');
    const cases = httpContract.filter(({ name }) => /^(creates|returns|stores|rejects an identical)/.test(name));
    const errors = await Promise.all(cases.map(({ run }) => run(toTarget(portOf(echo))).catch(String)));
    echo.close();
    expect(errors.filter((error) => !/<token>/.test(`${error}`))).to.deep.equal([]);
    expect(errors.join()).to.not.include(TOKEN);
  });
});
