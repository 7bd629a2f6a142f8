import { createHmac } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { exportSPKI, SignJWT } from 'jose';
import { after, afterEach, before, describe, it } from 'mocha';
import pino from 'pino';
import { JwtVerifier, type JwtVerifierOptions } from '../../../adapters/jwt/index.js';
import { services } from '../../../composition/container.js';
import { describeError } from '../../../composition/logger.js';
import { TokenIssuerUnavailable } from '../../../core/index.js';
import { tokenVerifierContract } from '../../contract/index.js';
import { exchange, type RawAnswer, request } from '../../support/raw-http.js';
import { runContract } from '../../support/run-contract.js';
import { startService, type TestService, TOKEN } from '../../support/service.js';
import { AUDIENCE, type Claims, claims, ISSUER, Issuer, type Key, newKey, now, part, sign } from './issuer.js';

/** A set of keys, but for its size. */
const ENDLESS_KEYS = `{"keys":[${' '.repeat(1024 ** 2)}]}`;

describe('A JWT', () => {
  let issuer: Issuer;
  let key: Key;
  before(async () => {
    key = await newKey();
    issuer = await Issuer.start(key);
  });
  after(() => issuer.away());

  const verifierOf = (from: Issuer, options: Partial<JwtVerifierOptions> = {}) =>
    new JwtVerifier({ issuer: ISSUER, audience: AUDIENCE, jwksUrl: from.jwksUrl, ...options });
  const verify = (token: string) => verifierOf(issuer).verify(token);

  describe('keeps the contract of a token:', () => {
    const harness = { create: async () => verifierOf(issuer), validToken: '' };
    before(async () => {
      harness.validToken = await sign(key);
    });
    runContract(tokenVerifierContract, harness);
  });

  describe('lets in', () => {
    for (const algorithm of ['RS256', 'PS512', 'ES256', 'ES384', 'EdDSA']) {
      it(`the subject that it names, signed with ${algorithm}`, async () => {
        const other = await newKey(algorithm);
        const issuerOfOther = await Issuer.start(other);
        try {
          expect(await verifierOf(issuerOfOther).verify(await sign(other))).to.deep.equal({ subject: 'gardener' });
        } finally {
          await issuerOfOther.away();
        }
      });
    }

    for (const [what, others] of [
      ['that is for others too', { aud: ['someone-else', AUDIENCE] }],
      ['that has just expired, by a clock that is ahead', { exp: now() - 15 }],
      ['that is valid in a moment, by a clock that is behind', { nbf: now() + 25 }],
      ['with claims that nobody here knows', { scope: 'plants:write', nested: { admin: true } }],
    ] as const) {
      it(`one ${what}`, async () => {
        expect(await verify(await sign(key, claims(others)))).to.deep.equal({ subject: 'gardener' });
      });
    }

    for (const [what, sub] of [
      ['no subject', undefined],
      ['an empty subject', ''],
      ['a subject that is no text', 4711],
    ] as const) {
      it(`one with ${what}, as its issuer`, async () => {
        const token = await sign(key, claims({ sub }));
        expect(await verify(token)).to.deep.equal({ subject: ISSUER });
      });
    }

    it('one that does not name its key, whichever of several it is', async () => {
      const [old, current] = [await newKey(), await newKey()];
      const rotating = await Issuer.start(old, current);
      try {
        const verifier = verifierOf(rotating);
        for (const signer of [old, current]) {
          const token = await sign(signer, claims(), { kid: undefined });
          expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
        }
        expect(await verifier.verify(await sign(key, claims(), { kid: undefined }))).to.equal(undefined);
        const expired = await sign(old, claims({ exp: now() - 60 }), { kid: undefined });
        expect(await verifier.verify(expired)).to.equal(undefined);
      } finally {
        await rotating.away();
      }
    });
  });

  describe('is not valid', () => {
    const withClaims = (others: Claims) => () => sign(key, claims(others));
    const tampered =
      (change: (parts: [header: string, payload: string, signature: string]) => readonly string[]) => async () => {
        const [header = '', payload = '', signature = ''] = (await sign(key)).split('.');
        return change([header, payload, signature]).join('.');
      };

    const invalid: Readonly<Record<string, () => string | Promise<string>>> = {
      'where it is not signed (alg none)': () => `${part({ alg: 'none' })}.${part(claims())}.`,
      'where it is not signed, in other letter case': () => `${part({ alg: 'nOnE' })}.${part(claims())}.`,
      'where a signature stands behind alg none': tampered(([, payload, signature]) => [
        part({ alg: 'none', kid: key.kid }),
        payload,
        signature,
      ]),
      'where it is signed with the public key as a shared secret (HS256)': async () => {
        const text = `${part({ alg: 'HS256', kid: key.kid })}.${part(claims())}`;
        const secret = await exportSPKI(key.publicKey);
        return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`;
      },
      'where it is signed with a shared secret that has the id of a key': async () =>
        new SignJWT({ ...claims() }).setProtectedHeader({ alg: 'HS256', kid: key.kid }).sign(Buffer.alloc(32)),
      'where the key is of another type than its algorithm': async () =>
        sign(await newKey('RS256'), claims(), { kid: key.kid }),
      'where another key signed it in the name of the published one': async () =>
        sign(await newKey(), claims(), { kid: key.kid }),
      'where nobody published its key': async () => sign(await newKey()),
      'where it brings its own key': async () => {
        const own = await newKey();
        return sign(own, claims(), { jwk: await crypto.subtle.exportKey('jwk', own.publicKey) });
      },
      'after it has expired': withClaims({ exp: now() - 60 }),
      'before it is valid': withClaims({ nbf: now() + 120 }),
      'where it never expires': withClaims({ exp: undefined }),
      'where its end is no time': withClaims({ exp: 'never' }),
      'from another issuer': withClaims({ iss: 'https://other.example' }),
      'from an issuer that begins like the right one': withClaims({ iss: `${ISSUER}/` }),
      'without an issuer': withClaims({ iss: undefined }),
      'for another audience': withClaims({ aud: 'someone-else' }),
      'for an audience in other letter case': withClaims({ aud: AUDIENCE.toUpperCase() }),
      'for nobody': withClaims({ aud: [] }),
      'without an audience': withClaims({ aud: undefined }),
      'with another payload behind the signature': tampered(([header, , signature]) => [
        header,
        part(claims({ sub: 'owner' })),
        signature,
      ]),
      'with another header before the signature': tampered(([, payload, signature]) => [
        part({ alg: 'ES256', kid: key.kid, typ: 'JWT' }),
        payload,
        signature,
      ]),
      'with a changed signature': tampered(([header, payload, signature]) => [
        header,
        payload,
        (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1),
      ]),
      'without its signature': tampered(([header, payload]) => [header, payload, '']),
      'where it demands an extension that nobody here knows': async () =>
        `${part({ alg: 'ES256', kid: key.kid, crit: ['x'], x: 1 })}.${part(claims())}.AAAA`,
      'where its payload is no object': async () =>
        `${part({ alg: 'ES256', kid: key.kid })}.${Buffer.from('[]').toString('base64url')}.AAAA`,
      'where it is garbage': () => 'garbage',
      'where it is garbage of three parts': () => 'gar.ba.ge',
      'where it is dots': () => '..',
      'where it is empty': () => '',
    };
    for (const [what, make] of Object.entries(invalid)) {
      it(what, async () => {
        expect(await verify(await make())).to.equal(undefined);
      });
    }
  });

  describe('of an issuer whose keys rotate', () => {
    const COOLDOWN_MS = 20;
    let rotating: Issuer;
    afterEach(() => rotating.away());

    it('is let in with the new key, without a restart, and no longer with the old one', async () => {
      const [old, next] = [await newKey('RS256'), await newKey('ES256')];
      rotating = await Issuer.start(old);
      const verifier = verifierOf(rotating, { cooldownMs: COOLDOWN_MS });
      const [tokenOfOld, tokenOfNext] = [await sign(old), await sign(next)];
      expect(await verifier.verify(tokenOfOld)).to.deep.equal({ subject: 'gardener' });

      await rotating.publish(old, next);
      await setTimeout(COOLDOWN_MS + 10);
      expect(await verifier.verify(tokenOfNext), 'the new key').to.deep.equal({ subject: 'gardener' });
      expect(await verifier.verify(tokenOfOld), 'the old key beside it').to.deep.equal({ subject: 'gardener' });

      await rotating.publish(next);
      await setTimeout(COOLDOWN_MS + 10);
      expect(await verifier.verify(await sign(await newKey())), 'a look at the keys').to.equal(undefined);
      expect(await verifier.verify(tokenOfOld), 'the old key').to.equal(undefined);
      expect(await verifier.verify(tokenOfNext)).to.deep.equal({ subject: 'gardener' });
    });

    it('makes the service ask for the keys once, however many come at once', async () => {
      const published = await newKey();
      rotating = await Issuer.start(published);
      const verifier = verifierOf(rotating);
      const token = await sign(published);
      const principals = await Promise.all(Array.from({ length: 50 }, () => verifier.verify(token)));
      expect(new Set(principals.map((principal) => principal?.subject))).to.deep.equal(new Set(['gardener']));
      expect(rotating.requests).to.equal(1);
    });

    it('cannot make the service ask for the keys again and again', async () => {
      rotating = await Issuer.start(await newKey());
      const verifier = verifierOf(rotating);
      for (let attempt = 0; attempt < 10; attempt++) {
        expect(await verifier.verify(await sign(await newKey()))).to.equal(undefined);
      }
      expect(rotating.requests).to.equal(1);
    });
  });

  describe('of an issuer', () => {
    let ailing: Issuer;
    let verifier: JwtVerifier;
    let published: Key;
    let token: string;
    before(async () => {
      published = await newKey();
      token = await sign(published);
    });
    afterEach(() => ailing.away());

    const troubles: Readonly<Record<string, (issuer: Issuer) => void | Promise<void>>> = {
      'that refuses connections': (issuer) => issuer.away(),
      'that accepts connections and hangs': (issuer) => issuer.answerWith(() => {}),
      'that hangs in the middle of its keys': (issuer) =>
        issuer.answerWith((response) => void response.write('{"keys":[')),
      'that breaks off in the middle of its keys': (issuer) =>
        issuer.answerWith((response) => response.write('{"keys":[', () => response.destroy())),
      'that answers 500': (issuer) => issuer.answerWith((response) => response.writeHead(500).end('{"keys":[]}')),
      'that answers 404': (issuer) => issuer.answerWith((response) => response.writeHead(404).end()),
      'that leads elsewhere': (issuer) =>
        issuer.answerWith((response) => response.writeHead(302, { Location: '/elsewhere' }).end()),
      'that answers with more than a set of keys can have': (issuer) =>
        issuer.answerWith((response) => response.end(ENDLESS_KEYS)),
      'that answers with a bomb': (issuer) =>
        issuer.answerWith((response) => response.setHeader('Content-Encoding', 'gzip').end(gzipSync(ENDLESS_KEYS))),
      'that answers no JSON': (issuer) => issuer.answerWith((response) => response.end('<html>')),
      'that answers JSON that is no set of keys': (issuer) => issuer.answerWith((response) => response.end('{"a":1}')),
    };
    for (const [what, trouble] of Object.entries(troubles)) {
      it(`${what} cannot be told valid now, and can be as soon as the issuer is well again`, async () => {
        ailing = await Issuer.start(published);
        verifier = verifierOf(ailing, { timeoutMs: 200 });
        await trouble(ailing);
        expect(await errorOf(verifier.verify(token))).to.be.instanceOf(TokenIssuerUnavailable);
        expect(await errorOf(verifier.verify(token)), 'a second time').to.be.instanceOf(TokenIssuerUnavailable);

        await ailing.back();
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
      });

      it(`${what} is let in where its key is known already`, async () => {
        ailing = await Issuer.start(published);
        verifier = verifierOf(ailing, { timeoutMs: 200 });
        await verifier.verify(token);
        await trouble(ailing);
        expect(await verifier.verify(token)).to.deep.equal({ subject: 'gardener' });
        expect(await verifier.verify(await sign(published, claims({ exp: now() - 60 })))).to.equal(undefined);
      });
    }

    it('that is away is refused all the same where no key could make it valid', async () => {
      ailing = await Issuer.start(published);
      await ailing.away();
      verifier = verifierOf(ailing);
      for (const hopeless of ['', 'garbage', `${part({ alg: 'none' })}.${part(claims())}.`]) {
        expect(await verifier.verify(hopeless)).to.equal(undefined);
      }
    });

    it('that is away while its new key is looked for cannot be told valid now', async () => {
      ailing = await Issuer.start(published);
      verifier = verifierOf(ailing, { cooldownMs: 0 });
      await verifier.verify(token);
      await ailing.away();
      expect(await errorOf(verifier.verify(await sign(await newKey())))).to.be.instanceOf(TokenIssuerUnavailable);
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
      await theIssuer.away();
    });

    async function start(environment: Readonly<Record<string, string>> = {}): Promise<void> {
      theIssuer = await Issuer.start(published);
      const jwt = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: theIssuer.jwksUrl.href };
      service = await startService({ ...jwt, ...environment }, (container) => {
        container.rebind(services.Logger).toConstantValue(logger);
      });
    }
    let lastId = 0;
    const createWith = (token: string): Promise<RawAnswer | undefined> =>
      exchange(
        service.port,
        request(
          'POST /plants',
          { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
          JSON.stringify({ id: ++lastId, name: 'Monstera' }),
        ),
      );
    const errorOfAnswer = (answer: RawAnswer | undefined) => Object(answer?.json()).error;
    const storedCount = async () => {
      let count = 0;
      for await (const page of service.plants.readAll()) count += page.length;
      return count;
    };

    it('creates a plant', async () => {
      await start();
      const answer = await createWith(await sign(published));
      expect(answer?.status).to.equal(200);
      expect(answer?.json()).to.deep.equal({ name: 'Monstera' });
    });

    for (const [what, make] of [
      ['has expired', () => sign(published, claims({ exp: now() - 60 }))],
      ['is for another audience', () => sign(published, claims({ aud: 'someone-else' }))],
      ['is signed with another key', async () => sign(await newKey(), claims(), { kid: published.kid })],
      ['is not signed', () => `${part({ alg: 'none' })}.${part(claims())}.`],
    ] as const) {
      it(`that ${what} is refused with 40102`, async () => {
        await start();
        const answer = await createWith(await make());
        expect([answer?.status, errorOfAnswer(answer)]).to.deep.equal([401, 40102]);
        expect(answer?.headers['www-authenticate']).to.equal('Bearer realm="plant-store", error="invalid_token"');
        expect(await storedCount()).to.equal(0);
      });
    }

    it('of an issuer that is away gets 50304 with Retry-After, stores nothing, and is let in once it is back', async () => {
      await start();
      await theIssuer.away();
      const token = await sign(published);
      const answer = await createWith(token);
      expect([answer?.status, errorOfAnswer(answer)]).to.deep.equal([503, 50304]);
      expect(answer?.headers['retry-after']).to.match(/^[1-9]\d{0,2}$/);
      expect(await storedCount()).to.equal(0);

      await theIssuer.back();
      expect((await createWith(token))?.status).to.equal(200);
    });

    it('stands beside static tokens, which are let in while the issuer is away, too', async () => {
      await start();
      expect((await createWith(TOKEN))?.status).to.equal(200);
      expect((await createWith(await sign(published)))?.status).to.equal(200);
      await theIssuer.away();
      expect((await createWith(TOKEN))?.status).to.equal(200);
      expect(errorOfAnswer(await createWith('no-such-token'))).to.equal(40102);
    });

    it('does without any static token', async () => {
      await start({ ACCESS_TOKENS: '' });
      expect((await createWith(await sign(published)))?.status).to.equal(200);
      expect(errorOfAnswer(await createWith(TOKEN))).to.equal(40102);
    });

    it('never stands in the log, nor does a part of it', async () => {
      await start();
      log.length = 0;
      const tokens = [
        await sign(published),
        await sign(published, claims({ exp: now() - 60 })),
        await sign(await newKey()),
        `${part({ alg: 'none', kid: 'canary' })}.${part(claims())}.`,
      ];
      for (const token of tokens) await createWith(token);
      await theIssuer.away();
      await service.stop();
      await start();
      await theIssuer.away();
      for (const token of tokens) await createWith(token);
      const text = log.join('');
      expect(text).to.include('50304');
      const parts = tokens.flatMap((token) => token.split('.')).filter((piece) => piece !== '');
      expect(parts.filter((piece) => text.includes(piece))).to.deep.equal([]);
      expect(text).not.to.include('canary');
    });
  });
});

async function errorOf(work: Promise<unknown>): Promise<unknown> {
  try {
    return { resolvedTo: await work };
  } catch (error) {
    return error;
  }
}
