import { expect } from 'chai';
import { it } from 'mocha';
import { services } from '../../../../composition/container.js';
import { PlantRejected, StorageUnavailable, TokenIssuerUnavailable } from '../../../../core/index.js';
import { storageSuite } from '../http-suite.js';
import {
  create,
  createWhenFree,
  expectRetryAfter,
  Gate,
  newPlant,
  startInTest,
  stored,
  verdict,
  withAdd,
} from '../support.js';

const SECRET = 'secret text: SELECT name FROM plants /var/lib/plants.db';

/** Failures of the storage and the token verifier. */
storageSuite('failures', (start) => {
  const startOne = startInTest(start);

  it('sends 50301 with Retry-After if the storage is unavailable', async () => {
    const service = await startOne(
      {},
      withAdd(() => Promise.reject(new StorageUnavailable(SECRET))),
    );
    const response = await create(service);
    expect(verdict(response)).to.equal(50301);
    expect(response?.body).to.not.include('secret');
    expectRetryAfter(response);
  });

  it('sends 50301 if the storage is closed', async () => {
    const service = await startOne();
    await service.repository.close();
    expect(verdict(await create(service))).to.equal(50301);
  });

  it('sends 50301 after STORAGE_TIMEOUT, and holds the permit until the storage is done', async () => {
    const gate = new Gate();
    const service = await startOne({ STORAGE_TIMEOUT: '2s', MAX_PENDING: '1' }, gate.beforeAdd());
    const plant = newPlant();
    const response = await create(service, plant);
    expect(verdict(response)).to.equal(50301);
    expectRetryAfter(response);
    expect(verdict(await create(service))).to.equal(50302);
    gate.open();
    expect(await createWhenFree(service)).to.equal(200);
    expect(verdict(await create(service, plant)), 'the retry finds the plant stored').to.equal(40902);
  });

  it('releases the permit if the storage fails after STORAGE_TIMEOUT', async () => {
    const gate = new Gate();
    let times = 0;
    const lateFailure = withAdd(async (plants, repository) => {
      if (++times > 1) return repository.add(plants);
      await gate.pass();
      throw new Error(SECRET);
    });
    const service = await startOne({ STORAGE_TIMEOUT: '2s', MAX_PENDING: '1' }, lateFailure);
    expect(verdict(await create(service))).to.equal(50301);
    gate.open();
    expect(await createWhenFree(service)).to.equal(200);
  });

  const defects: Record<string, () => Promise<never[]>> = {
    'throws an unexpected error': () => Promise.reject(new TypeError(SECRET)),
    'throws an error with properties that libraries use': () =>
      Promise.reject(
        Object.assign(new Error(SECRET), { status: 400, statusCode: 400, expose: true, headers: { Secret: 'x' } }),
      ),
    'throws a string': () => Promise.reject(SECRET),
    'throws undefined': () => Promise.reject(undefined),
    'throws instead of returning a promise': () => {
      throw new Error(SECRET);
    },
    'returns no outcome': async () => [],
  };
  for (const [what, add] of Object.entries(defects)) {
    it(`sends 50001 without details if the storage ${what}`, async () => {
      const service = await startOne({ MAX_PENDING: '1' }, withAdd(add));
      for (let times = 0; times < 2; times++) {
        const response = await create(service);
        expect(verdict(response)).to.equal(50001);
        expect(`${response?.body}${JSON.stringify(response?.headers)}`).to.not.match(
          /secret|SELECT|plants\.db|Error:/i,
        );
      }
    });
  }

  it('uses the storage only for plants that the domain rules allow', async () => {
    const service = await startOne(
      {},
      withAdd(async () => [{ kind: 'rejected', error: new PlantRejected('no') }]),
    );
    expect(verdict(await create(service, newPlant({ tag: '\0' })))).to.equal(40003);
    expect(verdict(await create(service))).to.equal(50002);
  });

  it('sends 50002 only for the plant that the storage rejects', async () => {
    const service = await startOne(
      {},
      withAdd(async (plants, repository) =>
        plants[0]?.name === 'bad' ? [{ kind: 'rejected', error: new PlantRejected(SECRET) }] : repository.add(plants),
      ),
    );
    const [before, rejected, after] = [
      await create(service),
      await create(service, newPlant({ name: 'bad' })),
      await create(service),
    ];
    expect([before, rejected, after].map(verdict)).to.deep.equal([200, 50002, 200]);
    expect(rejected?.body).to.not.include('secret');
    expect(await stored(service)).to.have.length(2);
  });

  it('sends 50304 with Retry-After, before the body arrives, if the token issuer is unavailable', async () => {
    const service = await startOne({}, (container) =>
      container.rebind(services.TokenVerifier).toConstantValue({
        verify: () => Promise.reject(new TokenIssuerUnavailable(SECRET)),
      }),
    );
    const response = await create(service, newPlant(), { 'Content-Length': '100000' });
    expect(verdict(response)).to.equal(50304);
    expect(response?.body).to.not.include('secret');
    expectRetryAfter(response);
    expect(await stored(service)).to.be.empty;
  });

  it('sends 50001 if the token verifier fails unexpectedly', async () => {
    const service = await startOne({}, (container) =>
      container.rebind(services.TokenVerifier).toConstantValue({ verify: () => Promise.reject(new Error(SECRET)) }),
    );
    const response = await create(service);
    expect(verdict(response)).to.equal(50001);
    expect(response?.body).to.not.include('secret');
  });
});
