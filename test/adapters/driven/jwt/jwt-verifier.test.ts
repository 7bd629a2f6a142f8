import type { ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { exportSPKI } from 'jose';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { JwtVerifier, type JwtVerifierOptions } from '../../../../adapters/driven/jwt/index.js';
import { readConfig } from '../../../../composition/config.js';
import { createContainer, services } from '../../../../composition/container.js';
import { TokenIssuerUnavailable } from '../../../../core/index.js';
import { tokenVerifierContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { runContract } from '../../../support/run-contract.js';
import { waitUntil } from '../../../support/wait-until.js';
import { AUDIENCE, ISSUER, Issuer, inSeconds, type Key, type Members, newKey, SUBJECT, sign } from './issuer.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const ACCEPTED = { subject: SUBJECT };

describe('JwtVerifier', () => {
  let key: Key;
  let next: Key;
  let token: string;
  let issuer: Issuer;
  before(async () => {
    [key, next] = [await newKey(), await newKey()];
    token = await sign(key);
  });
  beforeEach(async () => {
    issuer = await Issuer.start(key);
  });
  afterEach(() => issuer.stop());

  const create = (options: Partial<JwtVerifierOptions> = {}) =>
    new JwtVerifier({ issuer: ISSUER, audience: AUDIENCE, jwksUrl: issuer.jwksUrl, ...options });

  describe('meets the contract:', () => {
    runContract(
      tokenVerifierContract({
        create: async () => create({ cooldownMs: 0 }),
        get validToken() {
          return token;
        },
        expiredToken: () => sign(key, { exp: inSeconds(-3600) }),
        foreignToken: async () => sign(await newKey(), { iss: 'https://weeds.example' }),
        withIssuerUnavailable: async (work) => {
          await issuer.stop();
          await work().finally(() => issuer.restore());
        },
      }),
    );
  });

  describe('accepts a token', () => {
    for (const [what, getClaims, header] of [
      ['for several audiences', () => ({ aud: ['someone-else', AUDIENCE] })],
      ['that expired within the clock tolerance', () => ({ exp: inSeconds(-15) })],
      ['that becomes valid within the clock tolerance', () => ({ nbf: inSeconds(25) })],
      ['with unknown claims', () => ({ scope: 'plants:write', nested: { admin: true } })],
      ...['JWT', 'jwt', 'at+jwt', 'application/AT+JWT'].map(
        (typ) => [`of the type ${typ}`, () => ({}), { typ }] as const,
      ),
    ] as const) {
      it(what, async () => {
        expect(await create().verify(await sign(key, getClaims(), header))).to.deep.equal(ACCEPTED);
      });
    }

    it('signed with any asymmetric algorithm', async () => {
      const keys = await Promise.all(['RS256', 'PS512', 'ES384', 'EdDSA'].map(newKey));
      await issuer.publish(...keys);
      const verifier = create();
      for (const each of keys) expect(await verifier.verify(await sign(each)), each.algorithm).to.deep.equal(ACCEPTED);
    });

    it('without a key id, if one of several keys verifies it', async () => {
      const unnamed = { kid: undefined };
      await issuer.publish(key, next);
      const verifier = create();
      for (const each of [key, next])
        expect(await verifier.verify(await sign(each, {}, unnamed))).to.deep.equal(ACCEPTED);
      expect(await verifier.verify(await sign(await newKey(), {}, unnamed))).to.equal(undefined);
      expect(await verifier.verify(await sign(key, { exp: inSeconds(-60) }, unnamed))).to.equal(undefined);
    });
  });

  // The contract has tokens of another issuer, and tokens without a signature or with a wrong one.
  describe('rejects a token', () => {
    const invalid: Readonly<Record<string, Members | (() => Promise<string>)>> = {
      'signed with the public key as a shared secret (HS256)': async () =>
        sign({ ...key, algorithm: 'HS256', privateKey: Buffer.from(await exportSPKI(key.publicKey)) }),
      'signed with another key under the id of the published one': () => sign(next, {}, { kid: key.kid }),
      'that has expired': { exp: inSeconds(-60) },
      'that is not valid yet': { nbf: inSeconds(600) },
      'without an expiry': { exp: undefined },
      'from an issuer that starts with the expected one': { iss: `${ISSUER}/` },
      'for another audience': { aud: 'someone-else' },
      'without a subject': { sub: undefined },
      'with an empty subject': { sub: '' },
      'with a subject that is not a string': { sub: 4711 },
      'of another type (RFC 8725 §3.11)': () => sign(key, {}, { typ: 'secevent+jwt' }),
      'of a type with a known prefix': () => sign(key, {}, { typ: 'at+jwt+x' }),
      'of a type with a known suffix': () => sign(key, {}, { typ: 'text/at+jwt' }),
      'with an empty type': () => sign(key, {}, { typ: '' }),
      'with a type that is not a string': () => sign(key, {}, { typ: ['JWT'] }),
    };
    for (const [what, make] of Object.entries(invalid)) {
      it(what, async () => {
        const made = await (typeof make === 'function' ? make() : sign(key, make));
        expect(await create().verify(made)).to.equal(undefined);
      });
    }

    it('that no key could make valid, without the keys', async () => {
      await issuer.stop();
      for (const malformed of ['', 'garbage', `${token} `])
        expect(await create().verify(malformed)).to.equal(undefined);
    });
  });

  describe('as time passes', () => {
    const [realNow, realElapsed] = [Date.now, performance.now];
    let elapsedMs = 0;
    let verifier: JwtVerifier;
    beforeEach(() => {
      verifier = create();
      performance.now = () => realElapsed.call(performance) + elapsedMs;
    });
    afterEach(() => {
      Date.now = realNow;
      performance.now = realElapsed;
    });
    const elapse = (ms: number) => {
      elapsedMs += ms;
    };
    const breakIssuer = () => issuer.respondWith((response) => response.writeHead(500).end());
    /** Verifies tokens with unknown keys. Returns the distinct results and classes of errors. */
    const verifyUnknown = async (count: number) => {
      const tokens = await Promise.all(Array.from({ length: count }, async () => sign(await newKey())));
      const outcomes = new Set<unknown>();
      for (const unknown of tokens)
        outcomes.add(await verifier.verify(unknown).catch((error: unknown) => Object(error).constructor));
      return [...outcomes];
    };

    it('accepts a new key without a restart, and rejects the old one', async () => {
      const tokenOfNext = await sign(next);
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);

      await issuer.publish(key, next);
      elapse(30 * SECOND);
      expect(await verifier.verify(tokenOfNext), 'the new key').to.deep.equal(ACCEPTED);
      expect(await verifier.verify(token), 'the old key while it is published').to.deep.equal(ACCEPTED);

      await issuer.publish(next);
      elapse(30 * SECOND);
      expect(await verifyUnknown(1), 'an unknown key triggers a fetch').to.deep.equal([undefined]);
      expect(await verifier.verify(token), 'the old key').to.equal(undefined);
      expect(await verifier.verify(tokenOfNext)).to.deep.equal(ACCEPTED);
    });

    it('rejects a token ten minutes after its key was revoked', async () => {
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      // The wall clock is set back.
      Date.now = () => realNow() - 180 * MINUTE;
      await issuer.publish(next);
      elapse(4 * MINUTE);
      expect(await verifier.verify(token), 'after four minutes').to.deep.equal(ACCEPTED);
      elapse(6 * MINUTE);
      expect(await verifier.verify(token), 'after ten minutes').to.equal(undefined);
    });

    it('accepts a known key for ten minutes while the issuer fails, and tries to fetch the keys from the fifth', async () => {
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      breakIssuer();
      elapse(4.5 * MINUTE);
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      for (const requests of [2, 3]) {
        elapse(30 * SECOND);
        await waitUntil('a fetch in the background', async () => {
          expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
          return issuer.requests === requests;
        });
        expect(await verifyUnknown(1), 'waits for the same fetch').to.deep.equal([TokenIssuerUnavailable]);
      }
      elapse(4.5 * MINUTE);
      for (let turn = 0; turn < 3; turn++)
        expect(await catchError(verifier.verify(token))).to.be.instanceOf(TokenIssuerUnavailable);
      expect(issuer.requests).to.equal(4);
      expect(verifier.keys.fetchFailures).to.equal(3);
      await issuer.restore();
      elapse(30 * SECOND);
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
    });

    it('fetches the keys at most every 30 s, only for unknown keys, also while the issuer fails', async () => {
      await Promise.all([token, token, token].map((each) => verifier.verify(each)));
      elapse(29 * SECOND);
      expect(await verifyUnknown(10), 'recent keys').to.deep.equal([undefined]);
      expect(issuer.requests).to.equal(1);
      elapse(SECOND);
      await verifier.verify(token);
      breakIssuer();
      for (const requests of [2, 3]) {
        elapse(29 * SECOND);
        expect(await verifyUnknown(10), 'a failing issuer').to.deep.equal([TokenIssuerUnavailable]);
        expect(issuer.requests).to.equal(requests);
        elapse(SECOND);
      }
      elapse(29 * SECOND);
      await issuer.restore();
      expect(await verifyUnknown(10), 'an issuer that has recovered').to.deep.equal([undefined]);
      expect(issuer.requests).to.equal(4);
    });

    it('fetches the keys at most every 30 s if the issuer fails from the beginning, and reports their age', async () => {
      breakIssuer();
      expect(await verifyUnknown(10)).to.deep.equal([TokenIssuerUnavailable]);
      expect(issuer.requests).to.equal(1);
      expect(verifier.keys).to.include({ ageMs: Number.POSITIVE_INFINITY, fetchFailures: 1 });
      await issuer.restore();
      elapse(30 * SECOND);
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      elapse(30 * SECOND);
      expect(verifier.keys.ageMs).to.be.within(30 * SECOND, MINUTE);
    });
  });

  describe('throws TokenIssuerUnavailable until the issuer recovers, if it', () => {
    const NOT_OK = ': Expected 200 OK from the JSON Web Key Set HTTP response';
    const NOT_JSON = ': Failed to parse the JSON Web Key Set HTTP response as JSON';
    /** A JWK Set that is too large. */
    const bomb = gzipSync(`{"keys":[${' '.repeat(1024 ** 2)}]}`);
    type Fault = readonly [what: string, respond: (response: ServerResponse) => unknown, reason: string];
    const faults: readonly Fault[] = [
      ['closes the connection', (response) => response.destroy(), ''],
      ['stalls during the response', (response) => response.write('{"keys":['), NOT_JSON],
      ['redirects', (response) => response.writeHead(302, { Location: '/elsewhere' }).end(), NOT_OK],
      ['sends a decompression bomb', (response) => response.setHeader('Content-Encoding', 'gzip').end(bomb), NOT_JSON],
      ['sends JSON that is not a JWK Set', (response) => response.end('{"a":1}'), ': JSON Web Key Set malformed'],
    ];
    for (const [what, respond, reason] of faults) {
      it(what, async () => {
        const verifier = create({ timeoutMs: 1000, cooldownMs: 0 });
        issuer.respondWith(respond);
        const error = await catchError(verifier.verify(token));
        expect(error).to.be.instanceOf(TokenIssuerUnavailable).with.property('cause').that.is.instanceOf(Error);
        expect(error).to.have.property('message', `cannot read the keys at ${issuer.jwksUrl}${reason}`);
        await issuer.restore();
        expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      });
    }
  });

  it('is used by the service alone, and beside static tokens, which work while the issuer is unavailable', async () => {
    const jwt = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: issuer.jwksUrl.href };
    const others = { LOG_LEVEL: 'silent', MANAGEMENT_PORT: 'off' };
    const open = (tokens: object) =>
      createContainer(readConfig({ ...jwt, ...others, ...tokens })).getAsync(services.TokenVerifier);
    const [alone, verifier] = [await open({}), await open({ ACCESS_TOKENS: 'static-token' })];
    for (const each of [alone, verifier]) expect(await each.verify(token)).to.deep.equal(ACCEPTED);
    expect(await alone.verify('static-token')).to.equal(undefined);
    await issuer.stop();
    expect(await verifier.verify('static-token')).to.deep.equal({ subject: 'static-token-1' });
    expect(await verifier.verify('no-such-token')).to.equal(undefined);
  });

  for (const name of ['issuer', 'audience']) {
    it(`requires the ${name}, because jose would accept any`, () => {
      for (const value of ['', undefined])
        expect(() => create({ [name]: value })).to.throw(TypeError, `${name} must be a non-empty string`);
    });
  }
});
