import { createHmac } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { CompactSign, exportSPKI, SignJWT } from 'jose';
import { after, afterEach, before, beforeEach, describe, it } from 'mocha';
import pino from 'pino';
import { JwtVerifier, type JwtVerifierOptions } from '../../../../adapters/driven/jwt/index.js';
import { describeError } from '../../../../adapters/driven/logging/index.js';
import { services } from '../../../../composition/container.js';
import { TokenIssuerUnavailable } from '../../../../core/index.js';
import { tokenVerifierContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { exchange, type RawResponse, request } from '../../../support/raw-http.js';
import { runContract } from '../../../support/run-contract.js';
import { startService, type TestService, TOKEN } from '../../../support/service.js';
import { waitUntil } from '../../../support/wait-until.js';
import { AUDIENCE, type Claims, claims, encodePart, ISSUER, Issuer, type Key, newKey, now, sign } from './issuer.js';

/** A JWK Set that is too large. */
const OVERSIZED_KEYS = `{"keys":[${' '.repeat(1024 ** 2)}]}`;

describe('JwtVerifier', () => {
  let issuer: Issuer;
  let key: Key;
  before(async () => {
    key = await newKey();
    issuer = await Issuer.start(key);
  });
  after(() => issuer.stop());

  const createTokenVerifier = (from: Issuer, options: Partial<JwtVerifierOptions> = {}) =>
    new JwtVerifier({ issuer: ISSUER, audience: AUDIENCE, jwksUrl: from.jwksUrl, ...options });
  const verify = (token: string) => createTokenVerifier(issuer).verify(token);

  describe('meets the contract:', () => {
    const harness = {
      create: async () => createTokenVerifier(issuer),
      validToken: '',
      expiredToken: () => sign(key, claims({ exp: now() - 3600 })),
      foreignToken: async () => sign(await newKey(), claims({ iss: 'https://weeds.example' })),
    };
    before(async () => {
      harness.validToken = await sign(key);
    });
    runContract(tokenVerifierContract(harness));
  });

  describe('accepts', () => {
    for (const algorithm of ['RS256', 'PS512', 'ES256', 'ES384', 'EdDSA']) {
      it(`a token signed with ${algorithm}, and returns its subject`, async () => {
        const other = await newKey(algorithm);
        const issuerOfOther = await Issuer.start(other);
        try {
          expect(await createTokenVerifier(issuerOfOther).verify(await sign(other))).to.deep.equal({
            subject: 'gardener',
          });
        } finally {
          await issuerOfOther.stop();
        }
      });
    }

    for (const [what, getClaims] of [
      ['for several audiences', () => ({ aud: ['someone-else', AUDIENCE] })],
      ['that expired within the clock tolerance', () => ({ exp: now() - 15 })],
      ['that becomes valid within the clock tolerance', () => ({ nbf: now() + 25 })],
      ['with unknown claims', () => ({ scope: 'plants:write', nested: { admin: true } })],
    ] as const) {
      it(`a token ${what}`, async () => {
        expect(await verify(await sign(key, claims(getClaims())))).to.deep.equal({ subject: 'gardener' });
      });
    }

    for (const typ of ['JWT', 'jwt', 'at+jwt', 'application/AT+JWT']) {
      it(`a token of the type ${typ}`, async () => {
        expect(await verify(await sign(key, claims(), { typ }))).to.deep.equal({ subject: 'gardener' });
      });
    }

    it('a token without a key id, if any of several keys matches', async () => {
      const [old, current] = [await newKey(), await newKey()];
      const rotating = await Issuer.start(old, current);
      try {
        const verifier = createTokenVerifier(rotating);
        for (const signer of [old, current]) {
          const token = await sign(signer, claims(), { kid: undefined });
          expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
        }
        expect(await verifier.verify(await sign(key, claims(), { kid: undefined }))).to.equal(undefined);
        const expired = await sign(old, claims({ exp: now() - 60 }), { kid: undefined });
        expect(await verifier.verify(expired)).to.equal(undefined);
      } finally {
        await rotating.stop();
      }
    });
  });

  describe('rejects a token', () => {
    const withClaims = (others: Claims) => () => sign(key, claims(others));
    const tampered =
      (change: (parts: [header: string, payload: string, signature: string]) => readonly string[]) => async () => {
        const [header = '', payload = '', signature = ''] = (await sign(key)).split('.');
        return change([header, payload, signature]).join('.');
      };

    const invalid: Readonly<Record<string, () => string | Promise<string>>> = {
      'that is not signed (alg none)': () => `${encodePart({ alg: 'none' })}.${encodePart(claims())}.`,
      'that is not signed (alg nOnE)': () => `${encodePart({ alg: 'nOnE' })}.${encodePart(claims())}.`,
      'with alg none and a signature': tampered(([, payload, signature]) => [
        encodePart({ alg: 'none', kid: key.kid }),
        payload,
        signature,
      ]),
      'signed with the public key as a shared secret (HS256)': async () => {
        const text = `${encodePart({ alg: 'HS256', kid: key.kid })}.${encodePart(claims())}`;
        const secret = await exportSPKI(key.publicKey);
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      },
      'signed with a shared secret under the id of a key': async () =>
        new SignJWT({ ...claims() }).setProtectedHeader({ alg: 'HS256', kid: key.kid }).sign(Buffer.alloc(32)),
      'with an algorithm that does not fit the key': async () =>
        sign(await newKey('RS256'), claims(), { kid: key.kid }),
      'signed with another key under the id of the published one': async () =>
        sign(await newKey(), claims(), { kid: key.kid }),
      'signed with an unpublished key': async () => sign(await newKey()),
      'with an embedded key': async () => {
        const own = await newKey();
        return sign(own, claims(), { jwk: await crypto.subtle.exportKey('jwk', own.publicKey) });
      },
      'that has expired': () => sign(key, claims({ exp: now() - 60 })),
      'that is not valid yet': () => sign(key, claims({ nbf: now() + 120 })),
      'without an expiry': withClaims({ exp: undefined }),
      'with an expiry that is not a number': withClaims({ exp: 'never' }),
      'from another issuer': withClaims({ iss: 'https://other.example' }),
      'from an issuer that starts with the expected one': withClaims({ iss: `${ISSUER}/` }),
      'without an issuer': withClaims({ iss: undefined }),
      'for another audience': withClaims({ aud: 'someone-else' }),
      'for an audience in different letter case': withClaims({ aud: AUDIENCE.toUpperCase() }),
      'with an empty list of audiences': withClaims({ aud: [] }),
      'without an audience': withClaims({ aud: undefined }),
      'without a subject': withClaims({ sub: undefined }),
      'with an empty subject': withClaims({ sub: '' }),
      'with a subject that is not a string': withClaims({ sub: 4711 }),
      'of another type (RFC 8725 §3.11)': () => sign(key, claims(), { typ: 'secevent+jwt' }),
      'of a type with a known prefix': () => sign(key, claims(), { typ: 'at+jwt+x' }),
      'of a type with a known suffix': () => sign(key, claims(), { typ: 'text/at+jwt' }),
      'with an empty type': () => sign(key, claims(), { typ: '' }),
      'with a type that is not a string': () => sign(key, claims(), { typ: ['JWT'] }),
      'with a replaced payload': tampered(([header, , signature]) => [
        header,
        encodePart(claims({ sub: 'owner' })),
        signature,
      ]),
      'with a replaced header': tampered(([, payload, signature]) => [
        encodePart({ alg: 'ES256', kid: key.kid, typ: 'JWT' }),
        payload,
        signature,
      ]),
      'with a changed signature': tampered(([header, payload, signature]) => [
        header,
        payload,
        (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1),
      ]),
      'without its signature': tampered(([header, payload]) => [header, payload, '']),
      'with an unknown critical extension': async () =>
        new SignJWT({ ...claims() })
          .setProtectedHeader({ alg: 'ES256', kid: key.kid, crit: ['x'], x: 1 })
          .sign(key.privateKey, { crit: { x: true } }),
      'with a payload that is not an object': async () =>
        new CompactSign(Buffer.from('[]')).setProtectedHeader({ alg: 'ES256', kid: key.kid }).sign(key.privateKey),
      'that is not a JWT': () => 'garbage',
      'of three arbitrary parts': () => 'gar.ba.ge',
      'of dots': () => '..',
      'that is empty': () => '',
    };
    for (const [what, make] of Object.entries(invalid)) {
      it(what, async () => {
        expect(await verify(await make())).to.equal(undefined);
      });
    }
  });

  describe('when the issuer rotates its keys', () => {
    const COOLDOWN_MS = 20;
    let rotating: Issuer;
    afterEach(() => rotating.stop());

    it('accepts the new key without a restart, and rejects the old one', async () => {
      const [old, next] = [await newKey('RS256'), await newKey('ES256')];
      rotating = await Issuer.start(old);
      const verifier = createTokenVerifier(rotating, { cooldownMs: COOLDOWN_MS });
      const [tokenOfOld, tokenOfNext] = [await sign(old), await sign(next)];
      expect(await verifier.verify(tokenOfOld)).to.deep.equal({ subject: 'gardener' });

      await rotating.publish(old, next);
      await setTimeout(COOLDOWN_MS + 10);
      expect(await verifier.verify(tokenOfNext), 'the new key').to.deep.equal({ subject: 'gardener' });
      expect(await verifier.verify(tokenOfOld), 'the old key while it is published').to.deep.equal({
        subject: 'gardener',
      });

      await rotating.publish(next);
      await setTimeout(COOLDOWN_MS + 10);
      expect(await verifier.verify(await sign(await newKey())), 'an unknown key, which triggers a fetch').to.equal(
        undefined,
      );
      expect(await verifier.verify(tokenOfOld), 'the old key').to.equal(undefined);
      expect(await verifier.verify(tokenOfNext)).to.deep.equal({ subject: 'gardener' });
    });

    it('fetches the keys once for concurrent tokens', async () => {
      const published = await newKey();
      rotating = await Issuer.start(published);
      const verifier = createTokenVerifier(rotating);
      const token = await sign(published);
      const principals = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token)));
      expect(new Set(principals.map((principal) => principal?.subject))).to.deep.equal(new Set(['gardener']));
      expect(rotating.requests).to.equal(1);
    });

    describe('and time passes', () => {
      const realNow = Date.now;
      const realElapsed = performance.now;
      const SECOND = 1000;
      const MINUTE = 60 * SECOND;
      let published: Key;
      let next: Key;
      before(async () => {
        [published, next] = [await newKey(), await newKey()];
      });
      let elapsedMs = 0;
      let token: string;
      let verifier: JwtVerifier;
      beforeEach(async () => {
        token = await sign(published);
        rotating = await Issuer.start(published);
        verifier = createTokenVerifier(rotating);
        performance.now = () => realElapsed.call(performance) + elapsedMs;
      });
      afterEach(() => {
        Date.now = realNow;
        performance.now = realElapsed;
      });
      const setClockBack = () => {
        Date.now = () => realNow() - 180 * MINUTE;
      };
      const elapse = (ms: number) => {
        elapsedMs += ms;
      };
      const breakIssuer = () => rotating.respondWith((response) => response.writeHead(500).end());
      /** Verifies tokens of unknown keys. Returns the subjects and the errors. */
      const verifyUnknown = async (count: number) => {
        const tokens = await Promise.all(Array.from({ length: count }, async () => sign(await newKey())));
        const outcomes = new Set<unknown>();
        for (const unknown of tokens)
          outcomes.add(await verifier.verify(unknown).catch((error: unknown) => Object(error).constructor));
        return [...outcomes];
      };

      it('rejects a token ten minutes after its key was revoked', async () => {
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
        setClockBack();
        await rotating.publish(next);
        elapse(4 * MINUTE);
        expect(await verifier.verify(token), 'after four minutes').to.deep.equal({ subject: 'gardener' });
        elapse(6 * MINUTE);
        expect(await verifier.verify(token), 'after ten minutes').to.equal(undefined);
      });

      it('accepts a known key for ten minutes while the issuer fails, and fetches the keys from the fifth', async () => {
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
        breakIssuer();
        elapse(4.5 * MINUTE);
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
        for (const requests of [2, 3]) {
          elapse(30 * SECOND);
          await waitUntil('a fetch in the background', async () => {
            expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
            return rotating.requests === requests;
          });
          expect(await verifyUnknown(1), 'waits for the same fetch').to.deep.equal([TokenIssuerUnavailable]);
        }
        elapse(4.5 * MINUTE);
        for (let turn = 0; turn < 3; turn++)
          expect(await catchError(verifier.verify(token))).to.be.instanceOf(TokenIssuerUnavailable);
        expect(rotating.requests).to.equal(4);
        await rotating.restore();
        elapse(30 * SECOND);
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
      });

      it('fetches the keys at most every 30 s for unknown keys, also while the issuer fails', async () => {
        await verifier.verify(token);
        elapse(29 * SECOND);
        expect(await verifyUnknown(50), 'recent keys').to.deep.equal([undefined]);
        expect(rotating.requests).to.equal(1);
        breakIssuer();
        for (const requests of [2, 3]) {
          elapse(29 * SECOND);
          expect(await verifyUnknown(50), 'a failing issuer').to.deep.equal([TokenIssuerUnavailable]);
          expect(rotating.requests).to.equal(requests);
          elapse(SECOND);
        }
        elapse(29 * SECOND);
        await rotating.restore();
        expect(await verifyUnknown(50), 'an issuer that has recovered').to.deep.equal([undefined]);
        expect(rotating.requests).to.equal(4);
      });

      it('fetches the keys at most every 30 s if the issuer fails from the beginning', async () => {
        breakIssuer();
        expect(await verifyUnknown(50)).to.deep.equal([TokenIssuerUnavailable]);
        expect(rotating.requests).to.equal(1);
        await rotating.restore();
        elapse(30 * SECOND);
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
      });

      it('fetches no keys for a known key in the first five minutes', async () => {
        await verifier.verify(token);
        elapse(30 * SECOND);
        await verifier.verify(token);
        for (const secondsLater of [29, 1]) {
          elapse(secondsLater * SECOND);
          await verifyUnknown(1);
          expect(rotating.requests).to.equal(2);
        }
      });

      it('accepts a new key 30 s after the last fetch', async () => {
        await verifier.verify(token);
        const tokenOfNext = await sign(next);
        setClockBack();
        await rotating.publish(published, next);
        elapse(30 * SECOND);
        expect(await verifier.verify(tokenOfNext)).to.deep.equal({ subject: 'gardener' });
        expect(rotating.requests).to.equal(2);
      });
    });
  });

  describe('when the issuer', () => {
    let failing: Issuer;
    let verifier: JwtVerifier;
    let published: Key;
    let token: string;
    before(async () => {
      published = await newKey();
      token = await sign(published);
    });
    afterEach(() => failing.stop());

    const faults: Readonly<Record<string, (issuer: Issuer) => void | Promise<void>>> = {
      'rejects connections': (issuer) => issuer.stop(),
      'does not respond': (issuer) => issuer.respondWith(() => {}),
      'stalls during the response': (issuer) => issuer.respondWith((response) => void response.write('{"keys":[')),
      'closes the connection during the response': (issuer) =>
        issuer.respondWith((response) => response.write('{"keys":[', () => response.destroy())),
      'responds with 500': (issuer) => issuer.respondWith((response) => response.writeHead(500).end('{"keys":[]}')),
      'responds with 404': (issuer) => issuer.respondWith((response) => response.writeHead(404).end()),
      redirects: (issuer) =>
        issuer.respondWith((response) => response.writeHead(302, { Location: '/elsewhere' }).end()),
      'sends too large a response': (issuer) => issuer.respondWith((response) => response.end(OVERSIZED_KEYS)),
      'sends a decompression bomb': (issuer) =>
        issuer.respondWith((response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync(OVERSIZED_KEYS))),
      'does not send JSON': (issuer) => issuer.respondWith((response) => response.end('<html>')),
      'sends JSON that is not a JWK Set': (issuer) => issuer.respondWith((response) => response.end('{"a":1}')),
    };
    for (const [what, breakIssuer] of Object.entries(faults)) {
      it(`${what}, throws TokenIssuerUnavailable until the issuer recovers`, async () => {
        failing = await Issuer.start(published);
        verifier = createTokenVerifier(failing, { timeoutMs: 1000, cooldownMs: 0 });
        await breakIssuer(failing);
        const error = await catchError(verifier.verify(token));
        expect(error).to.be.instanceOf(TokenIssuerUnavailable).with.property('cause').that.is.instanceOf(Error);
        expect(error).to.have.property('message', 'cannot read the keys of the token issuer');

        await failing.restore();
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
      });

      it(`${what}, accepts tokens with a known key`, async () => {
        failing = await Issuer.start(published);
        verifier = createTokenVerifier(failing);
        await verifier.verify(token);
        await breakIssuer(failing);
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
        expect(await verifier.verify(await sign(published, claims({ exp: now() - 60 })))).to.equal(undefined);
      });
    }

    it('is unavailable, rejects tokens that no key could make valid', async () => {
      failing = await Issuer.start(published);
      await failing.stop();
      verifier = createTokenVerifier(failing);
      for (const invalidToken of ['', 'garbage', `${encodePart({ alg: 'none' })}.${encodePart(claims())}.`]) {
        expect(await verifier.verify(invalidToken)).to.equal(undefined);
      }
    });
  });

  describe('over HTTP', () => {
    const log: string[] = [];
    const logger = pino(
      { level: 'trace', serializers: { err: describeError } },
      { write: (line: string) => void log.push(line) },
    );
    let published: Key;
    let theIssuer: Issuer;
    let service: TestService;
    before(async () => {
      published = await newKey();
    });
    afterEach(async () => {
      await service.stop();
      await theIssuer.stop();
    });

    async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
      theIssuer = await Issuer.start(published);
      const jwt = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: theIssuer.jwksUrl.href };
      service = await startService({ ...jwt, ...environment }, (container) => {
        container.rebind(services.Logger).toConstantValue(logger);
      });
    }
    let lastId = 0;
    const createWith = (token: string): Promise<RawResponse | undefined> =>
      exchange(
        service.port,
        request(
          'POST /plants',
          { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          JSON.stringify({ id: ++lastId, name: 'Monstera' }),
        ),
      );
    const readErrorNumber = (response: RawResponse | undefined) => Object(response?.json()).error;
    const storedCount = async () => {
      let count = 0;
      for await (const page of service.repository.readAll()) count += page.length;
      return count;
    };

    it('accepts a valid JWT', async () => {
      await start();
      const response = await createWith(await sign(published));
      expect(response?.status).to.equal(200);
      expect(response?.json()).to.deep.equal({ name: 'Monstera' });
    });

    for (const [what, make] of [
      ['has expired', () => sign(published, claims({ exp: now() - 60 }))],
      ['is for another audience', () => sign(published, claims({ aud: 'someone-else' }))],
      ['is signed with another key', async () => sign(await newKey(), claims(), { kid: published.kid })],
      ['is not signed', () => `${encodePart({ alg: 'none' })}.${encodePart(claims())}.`],
    ] as const) {
      it(`rejects with 40102 a JWT that ${what}`, async () => {
        await start();
        const response = await createWith(await make());
        expect([response?.status, readErrorNumber(response)]).to.deep.equal([401, 40102]);
        expect(response?.headers['www-authenticate']).to.equal('Bearer realm="plant-store", error="invalid_token"');
        expect(await storedCount()).to.equal(0);
      });
    }

    it('responds with 50304 and Retry-After while the issuer is unavailable, and stores nothing', async () => {
      await start();
      await theIssuer.stop();
      const response = await createWith(await sign(published));
      expect([response?.status, readErrorNumber(response)]).to.deep.equal([503, 50304]);
      expect(response?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
      expect(await storedCount()).to.equal(0);
    });

    it('accepts static tokens too, even while the issuer is unavailable', async () => {
      await start();
      expect((await createWith(TOKEN))?.status).to.equal(200);
      expect((await createWith(await sign(published)))?.status).to.equal(200);
      await theIssuer.stop();
      expect((await createWith(TOKEN))?.status).to.equal(200);
      expect(readErrorNumber(await createWith('no-such-token'))).to.equal(40102);
    });

    it('works without static tokens', async () => {
      await start({ ACCESS_TOKENS: '' });
      expect((await createWith(await sign(published)))?.status).to.equal(200);
      expect(readErrorNumber(await createWith(TOKEN))).to.equal(40102);
    });

    it('logs neither a token nor a part of it', async () => {
      await start();
      log.length = 0;
      const tokens = [
        await sign(published),
        await sign(published, claims({ exp: now() - 60 })),
        await sign(await newKey()),
        `${encodePart({ alg: 'none', kid: 'canary' })}.${encodePart(claims())}.`,
      ];
      for (const token of tokens) await createWith(token);
      await theIssuer.stop();
      await service.stop();
      await start();
      await theIssuer.stop();
      for (const token of tokens) await createWith(token);
      const text = log.join('');
      expect(text).to.include('50304');
      const parts = tokens.flatMap((token) => token.split('.')).filter((tokenPart) => tokenPart !== '');
      expect(parts.filter((tokenPart) => text.includes(tokenPart))).to.deep.equal([]);
      expect(text).not.to.include('canary');
    });
  });
});

describe('A JWT verifier', () => {
  for (const name of ['issuer', 'audience']) {
    it(`requires the ${name}, because jose would accept any`, () => {
      for (const value of ['', undefined]) {
        const jwksUrl = new URL('https://issuer.example/jwks');
        const options = { issuer: ISSUER, audience: AUDIENCE, jwksUrl, [name]: value };
        expect(() => new JwtVerifier(options)).to.throw(TypeError, `${name} must be a non-empty string`);
      }
    });
  }
});
