import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { gzipSync } from 'node:zlib';
import { JwtVerifier, type JwtVerifierOptions } from '@plant-store/adapters/jwt';
import { tokenVerifierContract } from '@plant-store/contract';
import { TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { exportJWK, exportSPKI } from 'jose';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { portOf } from '../../../support/port.js';
import { runContract } from '../../../support/run-contract.js';
import { AUDIENCE, ISSUER, inSeconds, type Key, newKey, sign } from './issuer.js';

const ACCEPTED = { kind: 'valid', principal: { subject: 'gardener', issuer: ISSUER } };
const rejectedFor = (reason: string) => ({ kind: 'invalid', reason });

describe('JwtVerifier', () => {
  let key: Key;
  let next: Key;
  let token: string;
  let requests: number;
  let respond: (response: ServerResponse) => unknown;
  const issuer = createServer((_, response) => {
    requests++;
    respond(response);
  });
  const publish = (...keys: readonly object[]) => {
    respond = (response) => response.end(JSON.stringify({ keys }));
  };
  before(async () => {
    [key, next] = [await newKey(), await newKey()];
    token = await sign(key);
    await once(issuer.listen(0, '127.0.0.1'), 'listening');
  });
  beforeEach(() => {
    requests = 0;
    publish(key.jwk);
  });
  after(() => {
    issuer.close();
    issuer.closeAllConnections();
  });

  const create = (options: Partial<JwtVerifierOptions> = {}) => {
    const jwksUrl = new URL(`http://127.0.0.1:${portOf(issuer)}/jwks.json`);
    return new JwtVerifier({ issuer: ISSUER, audience: AUDIENCE, jwksUrl, ...options });
  };

  describe('meets the contract:', () => {
    runContract(
      tokenVerifierContract({
        create: async () => create({ cooldownMs: 0 }),
        get validToken() {
          return token;
        },
        expiredToken: () => sign(key, { exp: inSeconds(-3600) }),
        foreignToken: async () => sign(await newKey(), { iss: 'https://weeds.example' }),
        withIssuerUnavailable: (work) => {
          respond = (response) => response.destroy();
          return work().finally(() => publish(key.jwk));
        },
      }),
    );
  });

  it('accepts only tokens with the claims and the type of an access token, within 30 s of its times', async () => {
    const other = 'https://weeds.example';
    // The reasons are for the log.
    for (const [reason, claims, header] of [
      ['', {}, { typ: 'JWT' }],
      ['', {}, { typ: 'application/AT+JWT' }],
      ['', { exp: inSeconds(-15), nbf: inSeconds(25) }],
      ['not-before', { nbf: inSeconds(45) }],
      ['expired', { exp: inSeconds(-35) }],
      ['expiry', { exp: undefined }],
      ['issuer', { iss: other }],
      ['audience', { aud: other }],
      ['subject', { sub: undefined }],
      ['subject', { sub: '' }],
      ['subject', { sub: 4711 }],
      // RFC 8725 §3.11
      ['type', {}, { typ: 'secevent+jwt' }],
      ['type', {}, { typ: 'at+jwt+x' }],
      ['type', {}, { typ: 'text/at+jwt' }],
      ['type', {}, { typ: ['JWT'] }],
    ] as const) {
      const verification = await create().verify(await sign(key, claims, header));
      const expected = reason === '' ? ACCEPTED : rejectedFor(reason);
      expect(verification, JSON.stringify([claims, header])).to.deep.equal(expected);
    }
  });

  it('rejects a token with another signature, key or form, or signed with the public key as a secret', async () => {
    const [head, , signature] = token.split('.');
    const [, body] = (await sign(key, { sub: 'another' })).split('.');
    const secret = Buffer.from(await exportSPKI(key.publicKey));
    for (const [reason, forged] of [
      ['malformed', 'garbage'],
      ['signature', [head, body, signature].join('.')],
      ['key', await sign(next)],
      ['algorithm', await sign({ ...key, alg: 'HS256', privateKey: secret })],
    ] as const)
      expect(await create().verify(forged)).to.deep.equal(rejectedFor(reason));
  });

  it('accepts any asymmetric algorithm, and tries each of its keys if a token has no kid, but no weak one', async () => {
    const algorithms = ['RS256', 'PS512', 'ES256', 'ES256', 'EdDSA'];
    const keys = await Promise.all(algorithms.map((alg) => newKey(alg, false)));
    const weak = generateKeyPairSync('rsa', { modulusLength: 1024 }).publicKey.export({ format: 'jwk' });
    publish(weak, ...keys.map(({ jwk }) => jwk));
    const verifier = create();
    for (const each of keys) {
      expect(await verifier.verify(await sign(each)), each.alg).to.deep.equal(ACCEPTED);
      const expired = await sign(each, { exp: inSeconds(-3600) });
      expect(await verifier.verify(expired), each.alg).to.deep.equal(rejectedFor('expired'));
    }
    const forged = await sign(await newKey('ES256', false));
    expect(await verifier.verify(forged)).to.deep.equal(rejectedFor('signature'));
  });

  it('rejects the tokens of a key that cannot be imported, and accepts those of others', async () => {
    publish({ ...next.jwk, x: 'AA' }, { ...(await exportJWK(next.privateKey)), kid: 'private' }, key.jwk);
    const verifier = create();
    for (const kid of [next.kid, 'private'])
      expect(await verifier.verify(await sign({ ...next, kid }))).to.deep.equal(rejectedFor('key'));
    expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
  });

  describe('as time passes', () => {
    const [realNow, realElapsed] = [Date.now, performance.now];
    let elapsedMs: number;
    let verifier: JwtVerifier;
    beforeEach(() => {
      elapsedMs = 0;
      verifier = create();
      Date.now = () => realNow() + elapsedMs;
      performance.now = () => realElapsed.call(performance) + elapsedMs;
    });
    afterEach(() => {
      Date.now = realNow;
      performance.now = realElapsed;
    });
    /** Verifies a token with an unknown key, and returns the kind of the result or the name of the error. */
    const verifyForged = async () => {
      const { kind } = await verifier.verify(await sign(next)).catch((error: Error) => ({ kind: error.name }));
      return kind;
    };

    it('accepts a new key after 30 s, and rejects a revoked one after ten minutes', async () => {
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
      publish(next.jwk);
      elapsedMs += 31_000;
      expect(await verifier.verify(token), 'the revoked key').to.deep.equal(ACCEPTED);
      expect(await verifier.verify(await sign(next)), 'the new key').to.deep.equal(ACCEPTED);
      elapsedMs += 31_000;
      expect(await verifier.verify(token), 'the revoked key after a fetch').to.deep.equal(rejectedFor('key'));
      publish(key.jwk);
      elapsedMs += 600_000;
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
    });

    it('fetches the keys at most every 30 s for forged tokens', async () => {
      for (const fetches of [1, 2]) {
        // The first is checked with keys that are new; those of the other may be newer.
        expect([await verifyForged(), await verifyForged()]).to.deep.equal(['invalid', 'TokenIssuerUnavailable']);
        expect(requests).to.equal(fetches);
        elapsedMs += 31_000;
      }
    });

    it('fetches the keys at most every 30 s while the issuer fails, and recovers', async () => {
      respond = (response) => response.writeHead(500).end(JSON.stringify({ keys: [next.jwk] }));
      for (const fetches of [1, 1, 2, 2]) {
        expect(await verifyForged()).to.equal('TokenIssuerUnavailable');
        expect(requests).to.equal(fetches);
        elapsedMs += 16_000;
      }
      publish(key.jwk);
      expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
    });
  });

  it('throws TokenIssuerUnavailable while the response is stalled, empty or no JWK Set, and recovers', async () => {
    const verifier = create({ timeoutMs: 1000, cooldownMs: 0 });
    const [stalled, ...ended] = ['{"keys":[', '{"keys":[]}', '{"a":1}'];
    for (const body of [stalled, ...ended]) {
      respond = (response) => (body === stalled ? response.write(body) : response.end(body));
      const error = await catchError(verifier.verify(token));
      expect(error, body).to.be.instanceOf(TokenIssuerUnavailable);
      expect(error, body).to.match(/cannot read the keys at http:\/\/127\.0\.0\.1:\d+\/jwks\.json$/);
    }
    publish(key.jwk);
    expect(await verifier.verify(token)).to.deep.equal(ACCEPTED);
  });

  it('reads a key set of up to 1 MiB, also if it is compressed', async () => {
    const verifyWithKeySetOf = (bytes: number) => {
      const keySet = gzipSync(JSON.stringify({ keys: [key.jwk] }).padEnd(bytes));
      respond = (response) => response.setHeader('Content-Encoding', 'gzip').end(keySet);
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
