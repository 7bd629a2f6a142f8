import { expect } from 'chai';
import { it } from 'mocha';
import { StorageUnavailable, TokenIssuerUnavailable, type TokenVerifier } from '../../../../core/index.js';
import { httpSuite, type Options } from './support.js';

const SECRET = 'secret text: SELECT name FROM plants /var/lib/plants.db';
const cause = new Error(SECRET);
const rejecting = (error: unknown): Options => ({ createPlant: { execute: () => Promise.reject(error) } });
const withVerifier = (verify: () => ReturnType<TokenVerifier['verify']>): Options => ({ tokenVerifier: { verify } });
const libraryError = Object.assign(new Error(SECRET), { status: 400, expose: true, headers: { Secret: 'x' } });
const rejected = { kind: 'rejected', error: cause } as const;

const FAILURES: Readonly<Record<string, readonly [options: Options, expected: number]>> = {
  'the storage is unavailable': [rejecting(new StorageUnavailable(SECRET, { cause })), 50301],
  'the use case throws an error with properties that libraries use': [rejecting(libraryError), 50001],
  'the use case throws undefined': [rejecting(undefined), 50001],
  'the storage rejects the plant': [{ createPlant: { execute: async () => rejected } }, 50002],
  'the token issuer is unavailable': [withVerifier(() => Promise.reject(new TokenIssuerUnavailable(SECRET))), 50304],
  'the token verifier throws an unexpected error': [withVerifier(() => Promise.reject(cause)), 50001],
};

httpSuite('The response', {}, ({ start }) => {
  for (const [what, [options, expected]] of Object.entries(FAILURES)) {
    it(`is ${expected} without details, each time, if ${what}, and the log has the error`, async () => {
      const lines: { readonly error?: unknown; readonly err?: unknown; readonly message: string }[] = [];
      const write = (line: object, message: string) => lines.push({ ...line, message });
      const log = { info: write, error: write };
      const server = await start({ maxInFlight: 1, log, ...options });
      for (let times = 0; times < 2; times++) {
        lines.length = 0;
        const response = await server.exchange();
        expect(response).to.include({ outcome: expected });
        expect(JSON.stringify(response)).to.not.match(/secret|SELECT|plants\.db|Error:/i);
        if (expected > 50300) expect(response?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);

        const failure = { error: expected, requestId: response?.headers['x-request-id'] };
        // There is no error to log if the use case throws undefined.
        if (what.endsWith('undefined')) expect(lines).to.have.lengthOf(1);
        else expect(lines[0]).to.include({ message: 'request failed' }).and.have.property('err').that.is.ok;
        expect(lines.at(-1)).to.include({ message: 'request' });
        for (const line of lines) expect(line).to.include(failure);
      }
    });
  }

  for (const result of [null, false, { subject: 'a' }, { kind: 'VALID' }]) {
    it(`is 40102 if a verifier in JavaScript returns ${JSON.stringify(result)}`, async () => {
      const server = await start(withVerifier(async () => JSON.parse(JSON.stringify(result))));
      expect(await server.send()).to.equal(40102);
    });
  }
});
