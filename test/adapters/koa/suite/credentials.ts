import { expect } from 'chai';
import { describe, it } from 'mocha';
import { rejections } from '../../../../adapters/wire/index.js';
import { services } from '../../../../composition/container.js';
import { exchange, type RawAnswer, request } from '../../../support/raw-http.js';
import { TOKEN } from '../../../support/service.js';
import { HEADERS, newPlant, type Start, sharedService, startInTest, stored, verdict } from '../support.js';

const ACCEPTED = [`Bearer ${TOKEN}`, `bearer ${TOKEN}`, `BEARER ${TOKEN}`, `bEaReR   ${TOKEN}`, `Bearer ${TOKEN}  `];

const NO_BEARER_TOKEN = [
  '',
  TOKEN,
  'Bearer',
  'Bearer ',
  `Bearer${TOKEN}`,
  `Bearer\t${TOKEN}`,
  `Bearer ${TOKEN} ${TOKEN}`,
  `Bearer ${TOKEN}, Bearer`,
  `Bearer: ${TOKEN}`,
  `Bearer t\xf6ken`,
  `Basic ${btoa(`user:${TOKEN}`)}`,
  `Digest username="${TOKEN}"`,
  `Token ${TOKEN}`,
  `XBearer ${TOKEN}`,
];

const INVALID = [
  'wrong',
  TOKEN.slice(0, -1),
  `${TOKEN}x`,
  TOKEN.toUpperCase(),
  `"${TOKEN}"`,
  `${TOKEN},${TOKEN}`,
  'x'.repeat(10_000),
  'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  '__proto__',
];

/** Who may come in. */
export function credentials(start: Start): void {
  describe('credentials', () => {
    const service = sharedService(start);
    const startOne = startInTest(start);
    const send = (authorization: string) =>
      exchange(service().port, request('POST /plants', { ...HEADERS, Authorization: authorization }, newPlant()));
    const asksForBearer = (answer: RawAnswer | undefined) => {
      expect(verdict(answer)).to.equal(40101);
      expect(answer?.headers).to.include({ 'www-authenticate': 'Bearer realm="plant-store"' });
    };

    for (const authorization of ACCEPTED) {
      it(`lets in: ${JSON.stringify(authorization)}`, async () => {
        expect(verdict(await send(authorization))).to.equal(200);
      });
    }

    for (const authorization of NO_BEARER_TOKEN) {
      it(`is no bearer token: ${JSON.stringify(authorization)}`, async () => asksForBearer(await send(authorization)));
    }

    it('asks for a bearer token where there is no credential', async () => {
      asksForBearer(
        await exchange(service().port, request('POST /plants', { 'Content-Type': 'application/json' }, newPlant())),
      );
    });

    it('takes two Authorization headers for no credential, also where one of them or both are valid', async () => {
      for (const [first, second] of [
        [TOKEN, TOKEN],
        ['wrong', TOKEN],
        [TOKEN, 'wrong'],
      ]) {
        const both = { Authorization: `Bearer ${first}`, authorization: `Bearer ${second}` };
        asksForBearer(await exchange(service().port, request('POST /plants', both)));
      }
    });

    for (const token of INVALID) {
      it(`is not valid: ${token.slice(0, 70)}`, async () => {
        const answer = await send(`Bearer ${token}`);
        expect(verdict(answer)).to.equal(40102);
        expect(answer?.headers).to.include({
          'www-authenticate': 'Bearer realm="plant-store", error="invalid_token"',
        });
      });
    }

    it('lets in every configured token, also one that is configured by its digest', async () => {
      const digest = 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';
      const one = await startOne({ ACCESS_TOKENS: `first, second,${digest}` });
      for (const [token, expected] of Object.entries({ first: 200, second: 200, foo: 200, [digest]: 40102 })) {
        const headers = { ...HEADERS, Authorization: `Bearer ${token}` };
        expect(verdict(await exchange(one.port, request('POST /plants', headers, newPlant()))), token).to.equal(
          expected,
        );
      }
    });

    it('asks the storage nothing, and reads no body, for whom it does not let in', async () => {
      const used: string[] = [];
      const one = await startOne({}, (container) => {
        const storage = {
          add: async () => [],
          readAll: async function* () {},
          ready: async () => {},
          close: async () => {},
        };
        const watched = new Proxy(storage, {
          get: (target, name) => {
            if (name !== 'then') used.push(String(name));
            return Reflect.get(target, name);
          },
        });
        container.rebind(services.PlantRepository).toConstantValue(watched);
        container.onActivation(services.PlantCodec, (_, codec) => {
          codec.decode = () => {
            used.push('the body');
            return rejections.notJson;
          };
          return codec;
        });
      });
      for (const authorization of [...NO_BEARER_TOKEN, ...INVALID.map((token) => `Bearer ${token}`)]) {
        await exchange(one.port, request('POST /plants', { ...HEADERS, Authorization: authorization }, newPlant()));
      }
      expect(used).to.deep.equal([]);
      expect(verdict(await exchange(one.port, request('POST /plants', HEADERS, newPlant())))).to.equal(40001);
      expect(used, 'for whom it lets in').to.deep.equal(['the body']);
    });

    it('stores nothing for whom it does not let in', async () => {
      const one = await startOne();
      for (const authorization of [...NO_BEARER_TOKEN, ...INVALID.map((token) => `Bearer ${token}`)]) {
        await exchange(one.port, request('POST /plants', { ...HEADERS, Authorization: authorization }, newPlant()));
      }
      expect(await stored(one)).to.be.empty;
    });
  });
}
