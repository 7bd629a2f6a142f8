import { expect } from 'chai';
import { it } from 'mocha';
import {
  type CreatePlantUseCase,
  PlantRejected,
  StorageUnavailable,
  TokenIssuerUnavailable,
  type TokenVerifier,
} from '../../../../core/index.js';
import { exchange, request } from '../../../support/raw-http.js';
import { Gate, httpSuite, newPlant, type Options, outcome, post, postHead, send, startInTest } from './support.js';

const SECRET = 'secret text: SELECT name FROM plants /var/lib/plants.db';
const rejecting = (error: unknown): Options => ({ createPlant: { execute: () => Promise.reject(error) } });
const withVerifier = (verify: () => ReturnType<TokenVerifier['verify']>): Options => ({ tokenVerifier: { verify } });
const libraryError = Object.assign(new Error(SECRET), { status: 400, expose: true, headers: { Secret: 'x' } });

const FAILURES: Readonly<Record<string, readonly [options: Options, expected: number]>> = {
  'the storage is unavailable': [rejecting(new StorageUnavailable(SECRET)), 50301],
  'the use case throws an unexpected error': [rejecting(new TypeError(SECRET)), 50001],
  'the use case throws an error with properties that libraries use': [rejecting(libraryError), 50001],
  'the use case throws a string': [rejecting(SECRET), 50001],
  'the use case throws undefined': [rejecting(undefined), 50001],
  'the use case throws instead of returning a promise': [
    {
      createPlant: {
        execute() {
          throw new Error(SECRET);
        },
      },
    },
    50001,
  ],
  'the storage rejects the plant': [
    { createPlant: { execute: async () => ({ kind: 'rejected', error: new PlantRejected(SECRET) }) } },
    50002,
  ],
  'the token issuer is unavailable': [withVerifier(() => Promise.reject(new TokenIssuerUnavailable(SECRET))), 50304],
  'the token verifier throws an unexpected error': [withVerifier(() => Promise.reject(new Error(SECRET))), 50001],
};

httpSuite('The response', () => {
  const start = startInTest();

  for (const [what, [options, expected]] of Object.entries(FAILURES)) {
    it(`is ${expected} without details, each time, if ${what}`, async () => {
      const server = await start({ maxInFlight: 1, ...options });
      for (let times = 0; times < 2; times++) {
        const response = await exchange(server.port, post());
        expect(outcome(response)).to.equal(expected);
        expect(JSON.stringify(response)).to.not.match(/secret|SELECT|plants\.db|Error:/i);
        if (expected > 50300) expect(response?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
      }
    });
  }

  it('is 40901 if the id belongs to another plant', async () => {
    const createPlant: CreatePlantUseCase = { execute: async () => ({ kind: 'id-taken' }) };
    const server = await start({ createPlant });
    expect(await send(server, post('{"id":1,"name":"Monstera"}'))).to.equal(40901);
  });

  it('is 50301 after the storage timeout, and the permit is free', async () => {
    const { createPlant } = new Gate();
    const server = await start({ createPlant, storageTimeoutMs: 50, maxInFlight: 1 });
    for (let times = 0; times < 2; times++) expect(await send(server)).to.equal(50301);
  });

  for (const result of [null, false, true, {}, { subject: '' }]) {
    it(`is 40102 if a verifier in JavaScript returns ${JSON.stringify(result)}`, async () => {
      const server = await start(withVerifier(async () => JSON.parse(JSON.stringify(result))));
      expect(await send(server)).to.equal(40102);
    });
  }

  it('does not wait for the body without a valid credential, and the use case is not called', async () => {
    const server = await start();
    for (const [authorization, error] of [
      ['', 40101],
      ['Bearer', 40101],
      ['Basic Z2FyZGVu', 40101],
      [`Bearer ${'x'.repeat(10_000)}`, 40102],
    ] as const) {
      expect(await send(server, post(newPlant(), { Authorization: authorization }))).to.equal(error);
      const head = postHead({ Authorization: authorization, 'Content-Length': '100000' });
      expect(await send(server, head)).to.equal(error);
    }
    expect(server.created).to.be.empty;
  });

  it('is 404 outside of the path prefix', async () => {
    const server = await start({ basePath: '/a.b/~garden' });
    for (const [target, expected] of Object.entries({
      '/a.b/~garden/plants?x': 200,
      'http://test/a.b/~garden/plants': 200,
      '/plants': 40401,
      '/axb/~garden/plants': 40401,
      '/A.B/~garden/plants': 40401,
      '/a.b/~garden//plants': 40401,
      '//a.b/~garden/plants': 40401,
      '/openapi.json': 40401,
    })) {
      const bytes = Buffer.from(post().toString().replace('/plants', target));
      expect(await send(server, bytes), target).to.equal(expected);
    }
    expect(await send(server, request('GET /a.b/~garden/plants'))).to.equal(40501);
  });
});
