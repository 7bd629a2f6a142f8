import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import { Transform } from 'node:stream';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { ContractViolation, checkHttpTarget, httpContract } from '../contract/http/index.js';
import { portOf } from '../support/port.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { type HttpFault, httpFaults } from './http-faults.js';

const TRANSPARENT = { fault: 'none', caughtBy: 'none' };

/** Returns a function that starts a proxy for a service and returns the proxy's port. Proxies close after the suite. */
function useProxies(): (port: number, fault: HttpFault) => Promise<number> {
  const started: ReturnType<typeof createServer>[] = [];
  after(() => {
    for (const proxy of started) proxy.close();
  });
  return async (port, { request: change, respond, response: changeResponse, keepsOpen = false }) => {
    const proxy = createServer({ allowHalfOpen: true }, (client) => {
      const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
      let request = '';
      const toServer = editChunks((text) => {
        request = text;
        const reply = respond?.(text);
        if (reply === undefined) return change?.(text) ?? text;
        client.end(reply, 'latin1');
        return '';
      });
      const toClient = editChunks((text) => changeResponse?.(text, request) ?? text);
      client.pipe(toServer).pipe(server);
      server.pipe(toClient).pipe(client, { end: !keepsOpen });
      for (const socket of [client, server]) socket.on('error', () => {});
      client.on('close', () => server.destroy());
      if (!keepsOpen) server.on('close', () => client.destroySoon());
    });
    started.push(proxy);
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    return portOf(proxy);
  };
}

function editChunks(change: (text: string) => string): Transform {
  return new Transform({
    transform: (chunk: Buffer, _, done) => done(null, Buffer.from(change(chunk.toString('latin1')), 'latin1')),
  });
}

function toTarget(port: number, path = '') {
  return { baseUrl: `http://127.0.0.1:${port}${path}`, token: TOKEN };
}

describe('The contract of the HTTP interface', () => {
  const startProxy = useProxies();

  describe('accepts a correct service with a path prefix, behind a proxy:', () => {
    let service: TestService;
    let port: number;
    before(async () => {
      service = await startService({ BASE_PATH: '/garden', HEADERS_TIMEOUT: '5s' });
      port = await startProxy(service.port, TRANSPARENT);
    });
    after(() => service.stop());
    for (const { group, name, timeoutMs, run } of httpContract) {
      it(`${group}: ${name}`, () => run(toTarget(port, '/garden/'))).timeout(timeoutMs);
    }
  });

  describe('catches a service that', () => {
    let service: TestService;
    before(async () => {
      service = await startService();
    });
    after(() => service.stop());

    for (const fault of httpFaults(TOKEN)) {
      it(`${fault.fault}: "${fault.caughtBy}"`, async () => {
        const started = fault.environment ? await startService(fault.environment) : service;
        const target = toTarget(await startProxy(started.port, fault));
        const contractCase = httpContract.find(({ name }) => name === fault.caughtBy);
        const error = await contractCase?.run(target).catch((reason: unknown) => reason);
        if (started !== service) await started.stop();
        expect(error).to.be.instanceOf(ContractViolation);
        expect(String(error))
          .to.match(/expected .*; received /)
          .and.not.include(TOKEN);
      });
    }
  });

  it('has cases with unique names', () => {
    expect(new Set(httpContract.map(({ name }) => name))).to.have.lengthOf(httpContract.length);
  });

  describe('reports once that', () => {
    /** Runs every case and returns the first message and the set of the others. */
    const collectMessages = async (target: ReturnType<typeof toTarget>) => {
      const errors: unknown[] = [];
      for (const { run } of httpContract) errors.push(await run(target).catch((error: unknown) => error));
      const [first, ...others] = errors.map(String);
      expect(String(await checkHttpTarget(target).catch((error: unknown) => error))).to.equal(first);
      return { first, others: [...new Set(others)] };
    };
    const others = ['Error: not run, because the base URL or the token does not work; see the first failure'];
    let service: TestService;
    before(async () => {
      service = await startService();
    });
    after(() => service.stop());

    it('nothing listens at the base URL', async () => {
      const target = toTarget(1);
      const first = 'Error: POST http://127.0.0.1:1/plants: connect ECONNREFUSED 127.0.0.1:1';
      expect(await collectMessages(target)).to.deep.equal({ first, others });
    });

    it('the base URL has no /plants', async () => {
      const target = toTarget(service.port, '/plants');
      const first = `Error: POST ${target.baseUrl}/plants: does not exist (status 404); the base URL may be wrong`;
      expect(await collectMessages(target)).to.deep.equal({ first, others });
    });

    it('the token is not accepted', async () => {
      const target = { ...toTarget(service.port), token: 'wrong-canary' };
      const first = `Error: POST ${target.baseUrl}/plants: does not accept the token (status 401)`;
      expect(await collectMessages(target)).to.deep.equal({ first, others });
    });

    it('the base URL is invalid', async () => {
      const first = 'TypeError: the base URL plants must be an http or https URL without a query or fragment';
      expect(await collectMessages({ baseUrl: 'plants', token: TOKEN })).to.deep.equal({ first, others });
    });
  });

  it('never reports the token, even if the service returns it', async () => {
    const echo = createHttpServer((req, res) => {
      res.writeHead(400, { 'Content-Type': 'application/json' });
      res.end(JSON.stringify({ error: 1, message: req.headers.authorization, name: req.headers.authorization }));
    });
    await once(echo.listen(0, '127.0.0.1'), 'listening');
    const target = toTarget(portOf(echo));
    const cases = httpContract.filter(({ name }) => /^(creates|returns|stores|rejects an identical)/.test(name));
    const errors = await Promise.all(cases.map(({ run }) => run(target).catch(String)));
    echo.close();
    expect(errors.filter((error) => !/<token>/.test(`${error}`))).to.deep.equal([]);
    expect(errors.join()).to.not.include(TOKEN);
  });
});
