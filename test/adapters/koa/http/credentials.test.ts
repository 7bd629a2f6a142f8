import { expect } from 'chai';
import { it } from 'mocha';
import { apiErrors } from '../../../../adapters/api/index.js';
import { services } from '../../../../composition/container.js';
import { exchange, request } from '../../../support/raw-http.js';
import { TOKEN } from '../../../support/service.js';
import { httpSuite } from '../http-suite.js';
import { HEADERS, newPlant, startInTest, stored, verdict } from '../support.js';

const NO_VALID_TOKEN = [
  '',
  TOKEN,
  'Bearer',
  `Bearer${TOKEN}`,
  `Bearer ${TOKEN} ${TOKEN}`,
  `Basic ${btoa(`user:${TOKEN}`)}`,
  'Bearer wrong',
  `Bearer ${TOKEN}x`,
  `Bearer ${'x'.repeat(10_000)}`,
];

/** Configured tokens, and what happens without a valid one. */
httpSuite('credentials', (start) => {
  const startOne = startInTest(start);
  it('accepts every configured token, including those configured by digest', async () => {
    const digest = 'sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae';
    const service = await startOne({ ACCESS_TOKENS: `first, second,${digest}` });
    for (const [token, expected] of Object.entries({ first: 200, second: 200, foo: 200, [digest]: 40102 })) {
      const headers = { ...HEADERS, Authorization: `Bearer ${token}` };
      expect(verdict(await exchange(service.port, request('POST /plants', headers, newPlant()))), token).to.equal(
        expected,
      );
    }
  });

  it('neither uses the storage nor parses the body without a valid credential', async () => {
    const used: string[] = [];
    const service = await startOne({}, (container) => {
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
          return { kind: 'rejected', error: apiErrors.notJson };
        };
        return codec;
      });
    });
    for (const authorization of NO_VALID_TOKEN) {
      await exchange(service.port, request('POST /plants', { ...HEADERS, Authorization: authorization }, newPlant()));
    }
    expect(used).to.deep.equal([]);
    expect(verdict(await exchange(service.port, request('POST /plants', HEADERS, newPlant())))).to.equal(40001);
    expect(used, 'with a valid credential').to.deep.equal(['the body']);
  });

  for (const result of [null, false, true, {}, { subject: '' }]) {
    it(`rejects the token if a verifier in JavaScript returns ${JSON.stringify(result)}`, async () => {
      const verify = async () => JSON.parse(JSON.stringify(result));
      const service = await startOne({}, (container) => {
        container.rebind(services.TokenVerifier).toConstantValue({ verify });
      });
      expect(verdict(await exchange(service.port, request('POST /plants', HEADERS, newPlant())))).to.equal(40102);
    });
  }

  it('stores nothing without a valid credential', async () => {
    const service = await startOne();
    for (const authorization of NO_VALID_TOKEN) {
      await exchange(service.port, request('POST /plants', { ...HEADERS, Authorization: authorization }, newPlant()));
    }
    expect(await stored(service)).to.be.empty;
  });
});
