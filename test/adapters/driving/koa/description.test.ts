import { createConfig, lint } from '@redocly/openapi-core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { apiErrors, openApiDescription } from '../../../../adapters/driving/api/index.js';
import { HttpApi } from '../../../../adapters/driving/http/index.js';
import { type CreatePlantOutcome, StorageUnavailable, TokenIssuerUnavailable } from '../../../../core/index.js';
import { type RawResponse, request } from '../../../support/raw-http.js';
import { DESCRIPTION_FILE, description, errorsOf, operations, undeclared } from './description.js';
import { API_OPTIONS, HEADERS, httpSuite, type Options, TestServer } from './support.js';

/** How to provoke a response: options of the server, and what differs from the example of the description. */
interface Provocation {
  readonly options?: Options;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sends the bytes of the request in another way than over a new connection. */
  readonly act?: (server: TestServer, bytes: Buffer) => Promise<RawResponse | undefined>;
}

/** A use case with this result. */
const creating = (execute: () => Promise<CreatePlantOutcome>): Provocation => ({
  options: { createPlant: { execute } },
});

/** How to provoke each error, by its number; 200 for a success. */
const PROVOCATIONS: Readonly<Record<number, Provocation>> = {
  200: {},
  40000: { headers: { 'Transfer-Encoding': 'gzip' } },
  40001: { body: '{' },
  40002: { body: '{}' },
  40003: { body: '{"id":1,"name":"\\u0000"}' },
  40101: { headers: { Authorization: '' } },
  40102: { headers: { Authorization: 'Bearer wrong' } },
  40801: {
    options: { headersTimeoutMs: 1, requestTimeoutMs: 1 },
    act: (server, bytes) => server.exchange(bytes.subarray(0, -1)),
  },
  40901: creating(async () => ({ kind: 'id-conflict' })),
  40902: creating(async () => ({ kind: 'already-stored', plant: Object.create(null) })),
  41301: { options: { bodyLimitBytes: 1 } },
  41501: { headers: { 'Content-Type': 'text/plain' } },
  41701: { headers: { Expect: 'x' } },
  43101: { headers: { X: 'x'.repeat(17_000) } },
  50001: creating(() => Promise.reject(new Error())),
  50002: creating(async () => ({ kind: 'rejected', error: new Error('no') })),
  50301: creating(() => Promise.reject(new StorageUnavailable('no response'))),
  50302: { options: { maxInFlight: 0 } },
  50304: { options: { tokenVerifier: { verify: () => Promise.reject(new TokenIssuerUnavailable('no response')) } } },
};

describe('docs/openapi.yaml', () => {
  it('passes the recommended rules of the linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    expect(await lint({ ref: DESCRIPTION_FILE, config })).to.deep.equal([]);
  });

  it('declares every error number, except the two that belong to no operation', () => {
    const declared = Object.values(operations).flatMap(({ responses }) => Object.values(responses).flatMap(errorsOf));
    const missing = Object.values(apiErrors).filter(({ error }) => !declared.includes(error));
    expect(missing).to.deep.equal([apiErrors.noSuchPath, apiErrors.methodNotAllowed]);
  });

  for (const [name, { parameters = [], requestBody, responses }] of Object.entries(operations)) {
    describe(name, () => {
      const startLine = parameters.reduce(
        (line, { name: key, example }) => line.replace(`{${key}}`, `${example}`),
        name,
      );
      const example = requestBody?.content['application/json']?.example;
      const exampleBody = example === undefined ? '' : JSON.stringify(example);

      const declared = Object.values(responses).flatMap(errorsOf);

      for (const error of new Set([...declared, ...Object.keys(PROVOCATIONS).map(Number)])) {
        // The cause of an error does not affect an operation that does not declare it.
        const expected = declared.includes(error) ? error : 200;
        it(`responds ${expected} to the cause of ${error}`, async () => {
          const { options, headers, body = exampleBody, act } = PROVOCATIONS[error] ?? {};
          const server = await TestServer.start(options);
          const bytes = request(startLine, { ...HEADERS, ...headers }, body);
          const received = await (act ? act(server, bytes) : server.exchange(bytes)).finally(() => server.stop());
          expect(received?.outcome).to.equal(expected);
          expect(received && undeclared(received, startLine)).to.deep.equal([]);
        });
      }
    });
  }
});

httpSuite('/openapi.json', {}, ({ server }) => {
  it('is the description with a server URL', async () => {
    const response = await server().exchange(request('GET /openapi.json'));
    expect(response?.json()).to.deep.equal({ ...description, servers: [{ url: '/' }] });
  });

  it('cannot have an operation without a handler', () => {
    const paths = { '/plants': { put: { operationId: 'waterPlant' } } };
    const options = { ...API_OPTIONS, description: { ...openApiDescription, paths } };
    expect(() => new HttpApi(options)).to.throw('no handler for the operation waterPlant');
  });
});
