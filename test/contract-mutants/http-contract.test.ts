import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { ContractViolation, httpContract } from '@plant-store/contract/http';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { serve, TOKEN } from '../support/client.js';
import { portOf } from '../support/port.js';
import { temporaryFolder } from '../support/temporary.js';

/** A fault between the client and a correct service. Strings are the bytes of one packet, in Latin-1. */
interface HttpFault {
  /** Changes what the client sends. */
  readonly request?: (text: string) => string;
  /** Changes what the service sends to this request. */
  readonly response?: (text: string, request: string) => string;
}

/** Changes the body of a message, which is one packet. */
const editBody = (change: (body: string) => string) => (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const changed = Buffer.from(change(Buffer.from(body, 'latin1').toString()), 'utf8').toString('latin1');
  return `${head.replace(/^Content-Length: .*$/im, `Content-Length: ${changed.length}`)}\r\n\r\n${changed}`;
};
const editErrors = (change: (body: string) => string) => (text: string) =>
  /^HTTP\/1\.1 [45]/.test(text) ? editBody(change)(text) : text;
const toFloat = (id: string) => `"id":${BigInt.asIntN(64, BigInt(Number(id)))}`;

/** Faults of a service, by the case that detects each. */
const httpFaults: Readonly<Record<string, HttpFault>> = {
  'rejects a NewPlant without name': { response: editErrors(() => '<h1>Bad Request</h1>') },
  'rejects a request without a credential': {
    request: (text) =>
      text.includes('\r\nAuthorization:') ? text : text.replace('\r\n', `\r\nAuthorization: Bearer ${TOKEN}\r\n`),
  },
  'distinguishes ids beyond 2^53 that round to the same floating-point number': {
    request: editBody((body) => body.replace(/"id":(-?\d+)/, (_, id) => toFloat(id))),
  },
  'stores decomposed characters exactly': { request: editBody((body) => body.normalize('NFC')) },
  'responds 40001 to a byte that is never UTF-8, in an unknown field': {
    request: (text) => text.replace('"y":"\xff"', '"y":"?"'),
  },
  'responds 40101 to a request without Authorization, and stores nothing': {
    response: (text) => text.replace(/^WWW-Authenticate: .*\r\n/im, ''),
  },
  'sends no message with a token, a stack or a path': {
    response: editErrors((body) => body.replace('"message":"', `"message":"${TOKEN}: `)),
  },
  'responds 40401 to a path in another letter case': { request: (text) => text.replace(/\/PLANTS/i, '/plants') },
  'waits for no body, and sends no 100 Continue, without a credential': {
    response: (text, request) => (request.includes('Expect:') ? `HTTP/1.1 100 Continue\r\n\r\n${text}` : text),
  },
  'responds to 16 pipelined requests in order': { response: (text) => text.replace('"plant 1"', '"plant 2"') },
  'responds 40000 to two Content-Lengths, and closes the connection': {
    request: (text) => text.replace('Content-Length: 5\r\n', ''),
  },
};

describe('The contract of the HTTP API', () => {
  const folder = temporaryFolder();
  let port: number;
  before(async () => {
    // A case sends the token as a path, which is in the access log.
    port = await serve(folder, { BASE_PATH: '/garden', DATABASE_URL: 'memory:', ACCESS_LOG: 'off' }).port();
  });

  describe('accepts a correct service with a path prefix:', () => {
    const dependOnPrefix = ['specification', 'paths', 'description'];
    for (const { name, timeoutMs, run } of httpContract.filter(({ topic }) => dependOnPrefix.includes(topic)))
      it(name, () => run({ baseUrl: `http://127.0.0.1:${port}/garden/`, token: TOKEN })).timeout(timeoutMs);
  });

  describe('finds a fault that breaks a case, and does not report the token:', () => {
    for (const [name, fault] of Object.entries(httpFaults))
      it(name, async () => {
        const proxy = createServer((client) => {
          const server = connect({ port, host: '127.0.0.1' });
          let sent = '';
          client.setEncoding('latin1').on('data', (text: string) => {
            sent = text;
            server.write(fault.request?.(text) ?? text, 'latin1');
          });
          server.setEncoding('latin1').on('data', (text: string) => {
            client.write(fault.response?.(text, sent) ?? text, 'latin1');
          });
          client.on('error', () => {}).on('close', () => server.destroy());
          server.on('error', () => {}).on('end', () => client.end());
        });
        await once(proxy.listen(0, '127.0.0.1'), 'listening');
        const run = httpContract.find((each) => each.name === name)?.run;
        const work = run?.({ baseUrl: `http://127.0.0.1:${portOf(proxy)}/garden`, token: TOKEN });
        const error = await catchError(work ?? Promise.resolve());
        proxy.close();
        expect(error)
          .to.be.instanceOf(ContractViolation)
          .and.match(/expected .*; received /);
        expect(`${error}`).not.to.include(TOKEN);
      });
  });
});
