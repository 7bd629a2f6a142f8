import { generateKeyPairSync } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { JwtVerifier, type JwtVerifierOptions } from '@plant-store/adapters/jwt';
import { tokenVerifierContract } from '@plant-store/contract';
import { TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { exportJWK, exportSPKI } from 'jose';
import { afterEach, before, beforeEach, describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { runContract } from '../../../support/run-contract.js';
import { AUDIENCE, ISSUER, Issuer, inSeconds, type Key, newKey, SUBJECT, sign } from './issuer.js';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const ACCEPTED = { kind: 'valid', principal: { subject: SUBJECT, issuer: ISSUER } };
const rejectedFor = (reason: string) => ({ kind: 'invalid', reason });

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
          await work().finally(() => issuer.restart());
        },
      }),
    );
  });

  describe('accepts a token', () => {
    for (const { title, header } of [
      { title: 'of the type JWT', header: { typ: 'JWT' } },
      { title: 'of the type application/AT+JWT', header: { typ: 'application/AT+JWT' } },
    ])
      it(title, async () => {
        expect(await create().verify(await sign(key, {}, header))).to.deep.equal(ACCEPTED);
      });

    it('that expired, or becomes valid, within the clock tolerance', async () => {
      const tokens = [await sign(key, { exp: inSeconds(-15) }), await sign(key, { nbf: inSeconds(25) })];
      for (const each of tokens) expect(await create().verify(each)).to.deep.equal(ACCEPTED);
    });

    it('signed with any asymmetric algorithm', async () => {
      const keys = await Promise.all(['RS256', 'PS512', 'ES384', 'EdDSA'].map((algorithm) => newKey(algorithm)));
      await issuer.publish(...keys);
      const verifier = create();
      for (const each of keys) expect(await verifier.verify(await sign(each)), each.algorithm).to.deep.equal(ACCEPTED);
    });
  });

  it('tries each key of the algorithm if a token has no kid', async () => {
    const algorithms = ['ES256', 'ES256', 'RS256', 'ES256'];
    const keys = await Promise.all(algorithms.map((algorithm) => newKey(algorithm, null)));
    await issuer.publish(...keys);
    const verifier = create();
    for (const each of keys) {
      expect(await verifier.verify(await sign(each)), each.algorithm).to.deep.equal(ACCEPTED);
      const expired = await sign(each, { exp: inSeconds(-3600) });
      expect(await verifier.verify(expired)).to.deep.equal(rejectedFor('expired'));
      const foreign = await sign(each, { aud: 'someone-else' });
      expect(await verifier.verify(foreign)).to.deep.equal(rejectedFor('audience'));
    }
    const forged = await sign(await newKey('ES256', null));
    expect(await verifier.verify(forged)).to.deep.equal(rejectedFor('signature'));
  });

  it('skips a key that is too weak for jose if a token has no kid', async () => {
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    const strong = await newKey('RS256', null);
    const keys = [weak, await exportJWK(strong.publicKey)];
    issuer.respond = (response) => response.end(JSON.stringify({ keys }));
    expect(await create().verify(await sign(strong))).to.deep.equal(ACCEPTED);
  });

  it('rejects the tokens of a key that cannot be imported, and accepts those of others', async () => {
    const broken = { ...(await exportJWK(next.publicKey)), kid: next.kid, x: 'AA' };
    const usable = { ...(await exportJWK(key.publicKey)), kid: key.kid };
    const keys = [broken, { ...(await exportJWK(next.privateKey)), kid: 'private' }, usable];
    issuer.respond = (response) => response.end(JSON.stringify({ keys }));
    const verifier = create();
    for (const kid of [next.kid, 'private'])
      expect(await verifier.verify(await sign({ ...next, kid }))).to.deep.equal(rejectedFor('key'));
    expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
  });

  // The contract has expired tokens, tokens of another issuer, and tokens without a signature or with a wrong one.
  describe('rejects a token, with a reason for the log,', () => {
    for (const { title, reason, claims, header } of [
      { title: 'that is not valid yet', reason: 'not-before', claims: { nbf: inSeconds(600) } },
      { title: 'that has expired', reason: 'expired', claims: { exp: inSeconds(-3600) } },
      { title: 'without an expiry', reason: 'expiry', claims: { exp: undefined } },
      { title: 'of another issuer', reason: 'issuer', claims: { iss: 'https://weeds.example' } },
      { title: 'for another audience', reason: 'audience', claims: { aud: 'someone-else' } },
      { title: 'without a subject', reason: 'subject', claims: { sub: undefined } },
      { title: 'with an empty subject', reason: 'subject', claims: { sub: '' } },
      { title: 'with a subject that is not a string', reason: 'subject', claims: { sub: 4711 } },
      { title: 'of another type (RFC 8725 §3.11)', reason: 'type', header: { typ: 'secevent+jwt' } },
      { title: 'of a type with a known prefix', reason: 'type', header: { typ: 'at+jwt+x' } },
      { title: 'of a type with a known suffix', reason: 'type', header: { typ: 'text/at+jwt' } },
      { title: 'with a type that is not a string', reason: 'type', header: { typ: ['JWT'] } },
    ]) {
      it(title, async () => {
        expect(await create().verify(await sign(key, claims, header))).to.deep.equal(rejectedFor(reason));
      });
    }

    it('with another signature or key', async () => {
      const verifier = create();
      const [head, , signature] = token.split('.');
      const [, body] = (await sign(key, { sub: 'another' })).split('.');
      expect(await verifier.verify([head, body, signature].join('.'))).to.deep.equal(rejectedFor('signature'));
      expect(await create().verify(await sign(await newKey()))).to.deep.equal(rejectedFor('key'));
    });

    it('that is malformed, although the issuer does not respond', async () => {
      await issuer.stop();
      expect(await create().verify('garbage')).to.deep.equal(rejectedFor('malformed'));
    });

    it('signed with the public key as a shared secret (HS256)', async () => {
      const secret = Buffer.from(await exportSPKI(key.publicKey));
      const forged = await sign({ ...key, algorithm: 'HS256', privateKey: secret });
      expect(await create().verify(forged)).to.deep.equal(rejectedFor('algorithm'));
    });
  });

  describe('as time passes', () => {
    const [realNow, realElapsed] = [Date.now, performance.now];
    let elapsedMs = 0;
    let forgedTokens: readonly string[];
    let verifier: JwtVerifier;
    before(async () => {
      forgedTokens = await Promise.all(Array.from({ length: 10 }, async () => sign(await newKey())));
    });
    beforeEach(() => {
      verifier = create();
      Date.now = () => realNow() + elapsedMs;
      performance.now = () => realElapsed.call(performance) + elapsedMs;
    });
    afterEach(() => {
      Date.now = realNow;
      performance.now = realElapsed;
      elapsedMs = 0;
    });
    const elapse = (ms: number) => {
      elapsedMs += ms;
    };
    /** Verifies tokens with unknown keys, and returns the distinct kinds of results and names of errors. */
    const verifyForged = async () => {
      const outcomes = new Set<string>();
      for (const forged of forgedTokens)
        outcomes.add(
          await verifier.verify(forged).then(
            ({ kind }) => kind,
            (error: Error) => error.name,
          ),
        );
      return [...outcomes];
    };

    it('accepts a new key after 30 s, and rejects a revoked one after ten minutes', async () => {
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      await issuer.publish(next);
      elapse(31 * SECOND);
      expect(await verifier.verify(token), 'the revoked key').to.deep.equal(ACCEPTED);
      expect(await verifier.verify(await sign(next)), 'the new key').to.deep.equal(ACCEPTED);
      expect(issuer.requests).to.equal(2);
      elapse(31 * SECOND);
      expect(await verifier.verify(token), 'the revoked key after a fetch').to.deep.equal(rejectedFor('key'));
      await issuer.publish(key);
      elapse(10 * MINUTE);
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
    });

    it('fetches the keys at most every 30 s for forged tokens', async () => {
      for (const requests of [1, 2]) {
        // The first is checked with keys that are new; those of the others may be newer.
        expect(await verifyForged()).to.deep.equal(['invalid', 'TokenIssuerUnavailable']);
        expect(issuer.requests).to.equal(requests);
        elapse(31 * SECOND);
      }
    });

    it('fetches the keys at most every 30 s while the issuer fails, and recovers', async () => {
      issuer.respond = (response) => response.writeHead(500).end();
      for (const requests of [1, 2]) {
        expect(await verifyForged()).to.deep.equal(['TokenIssuerUnavailable']);
        elapse(25 * SECOND);
        expect(await verifyForged()).to.deep.equal(['TokenIssuerUnavailable']);
        expect(issuer.requests).to.equal(requests);
        elapse(6 * SECOND);
      }
      await issuer.publish(key);
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
    });
  });

  describe('throws TokenIssuerUnavailable until the issuer recovers,', () => {
    for (const { title, part, isStalled = false } of [
      { title: 'if it stalls during the response', part: '{"keys":[', isStalled: true },
      { title: 'if it sends an empty JWK Set', part: '{"keys":[]}' },
      { title: 'if it sends JSON that is not a JWK Set', part: '{"a":1}' },
    ]) {
      it(title, async () => {
        const verifier = create({ timeoutMs: 1000, cooldownMs: 0 });
        issuer.respond = (response) => (isStalled ? response.write(part) : response.end(part));
        const error = await catchError(verifier.verify(token));
        expect(error).to.be.instanceOf(TokenIssuerUnavailable);
        expect(error).to.have.property('message', `cannot read the keys at ${issuer.jwksUrl}`);
        await issuer.publish(key);
        expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      });
    }
  });

  it('reads a key set of up to 1 MiB, also if it is compressed', async () => {
    const keySet = await (await fetch(issuer.jwksUrl)).text();
    const verifyWithKeySetOf = (bytes: number) => {
      const compressed = gzipSync(keySet.padEnd(bytes));
      issuer.respond = (response) => response.setHeader('Content-Encoding', 'gzip').end(compressed);
      return create().verify(token);
    };
    expect(await verifyWithKeySetOf(1024 ** 2)).to.deep.equal(ACCEPTED);
    const error = await catchError(verifyWithKeySetOf(1024 ** 2 + 1));
    expect(error).to.be.instanceOf(TokenIssuerUnavailable);
    expect(error).to.have.nested.property('cause.message', 'the key set is larger than 1048576 bytes');
  });

  it('requires an issuer and an audience, because jose would accept any', () => {
    for (const option of [{ issuer: '' }, { audience: '' }])
      expect(() => create(option)).to.throw(TypeError, 'issuer and audience must be non-empty strings');
  });
});
