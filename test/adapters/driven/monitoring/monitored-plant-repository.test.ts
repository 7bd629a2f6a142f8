import { setImmediate, setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { MonitoredPlantRepository, StorageTimeout } from '../../../../adapters/driven/monitoring/index.js';
import { type AddOutcome, type Plant, PlantRejected, StorageUnavailable } from '../../../../core/index.js';
import { plantRepositoryContract } from '../../../contract/index.js';
import { isAvailable } from '../../../contract/repository-checks.js';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';
import { waitUntil } from '../../../support/wait-until.js';

const TIMEOUT_MS = 20;
/** Longer than the pause before the first attempt, and shorter than the pause before the second one. */
const FIRST_PAUSE_MS = 1100;

describe('MonitoredPlantRepository', () => {
  let storage: FaultyRepository;
  let repository: MonitoredPlantRepository;
  const add = (...ids: readonly bigint[]) => repository.add(ids.map((id) => toPlant({ id, name: 'Monstera' })));
  const expectNotReady = async (message = 'a write failed, and no write has succeeded since') =>
    expect(await catchError(repository.ready()))
      .to.be.instanceOf(StorageUnavailable)
      .with.property('message', message);

  runContract(
    plantRepositoryContract({
      open: async () => new MonitoredPlantRepository(new MemoryPlantRepository(), { timeoutMs: 10_000 }),
    }),
  );

  describe('without a probe', () => {
    const realNow = performance.now;
    afterEach(() => {
      performance.now = realNow;
    });
    /** Moves the monotonic clock forward. */
    const elapse = (ms: number) => {
      const now = performance.now;
      performance.now = () => now.call(performance) + ms;
    };
    beforeEach(() => {
      storage = new FaultyRepository();
      repository = new MonitoredPlantRepository(storage, { timeoutMs: TIMEOUT_MS });
    });

    it('after a call that hangs, fails immediately, lets one call try after a pause, and is ready if it succeeds', async () => {
      storage.fault = 'hang';
      expect(await catchError(add(1n)))
        .to.be.instanceOf(StorageTimeout)
        .with.property('message', 'the storage did not respond within 20 ms');
      expect(await catchError(add(2n)))
        .to.be.instanceOf(StorageUnavailable)
        .with.property('message', 'an earlier write timed out, and no write has succeeded since');
      expect(storage.adds).to.equal(1);

      elapse(FIRST_PAUSE_MS);
      // The second call fails immediately, because the first one is trying.
      const [first, second] = await Promise.all([catchError(add(1n)), catchError(add(2n))]);
      expect([first, second].map((error) => error instanceof StorageTimeout)).to.deep.equal([true, false]);
      elapse(FIRST_PAUSE_MS);
      await catchError(add(1n));
      expect(storage.adds, 'the pause doubles').to.equal(2);

      storage.fault = undefined;
      await expectNotReady();
      elapse(FIRST_PAUSE_MS);
      expect(await add(1n)).to.deep.equal([{ kind: 'added' }]);
      await repository.ready();

      storage.fault = new RangeError('the first call fails late');
      await storage.end();
      storage.fault = undefined;
      await repository.ready();

      storage.fault = 'hang';
      await catchError(add(2n));
      elapse(FIRST_PAUSE_MS);
      expect(await catchError(add(2n)), 'the first pause again').to.be.instanceOf(StorageTimeout);
    });

    for (const [what, change, nextOutcome] of [
      ['succeeds', {}, 'taken'],
      ['fails', { fault: new StorageUnavailable('no response') }, 'added'],
      ['rejects its plants', { isRejecting: true }, 'rejected'],
    ] as const) {
      it(`is ready again when a call that timed out ${what} late`, async () => {
        storage.fault = 'hang';
        await catchError(add(1n));
        Object.assign(storage, change);
        await storage.end();
        storage.fault = undefined;
        await repository.ready();
        expect(await add(1n)).to.have.nested.property('[0].kind', nextOutcome);
      });
    }

    it('is not ready after an unexpected error until a plant is added, even if the storage is ready', async () => {
      await add(1n);
      storage.fault = new RangeError('defect');
      await catchError(add(2n));
      storage.fault = undefined;
      await add(1n);
      await expectNotReady();
      await add(1n, 2n);
      await repository.ready();
    });

    it('is not ready while a check hangs, or until a plant is added, and starts no other check meanwhile', async () => {
      storage.fault = 'hang';
      expect(await catchError(repository.ready())).to.be.instanceOf(StorageTimeout);
      await expectNotReady('an earlier check has not ended');
      expect(storage.checks).to.equal(1);
      storage.fault = undefined;
      await expectNotReady('an earlier check has not ended');
      await add(1n);
      await repository.ready();

      storage.fault = 'hang';
      await catchError(repository.ready());
      await storage.end(1);
      await expectNotReady('an earlier check has not ended');
      await storage.end();
      await repository.ready();
    });
  });

  describe('with a probe', () => {
    let probes: number;
    let probe: () => Promise<void>;
    beforeEach(() => {
      storage = new FaultyRepository();
      probes = 0;
      probe = async () => {};
      repository = new MonitoredPlantRepository(storage, {
        probe: () => {
          probes++;
          return probe();
        },
      });
    });

    it('probes at the first check, and after a failure until a probe succeeds, whatever the error of the probe', async () => {
      await repository.ready();
      await add(0n);
      await repository.ready();
      expect(probes).to.equal(1);

      storage.fault = new StorageUnavailable('no response');
      await catchError(add(1n));
      storage.fault = undefined;
      for (const error of [new StorageUnavailable('no response'), new PlantRejected('no'), new RangeError('defect')]) {
        probe = () => Promise.reject(error);
        expect(await catchError(repository.ready())).to.equal(error);
        // Another kind of write may still fail.
        await add(BigInt(probes));
      }
      probe = async () => {};
      await repository.ready();
    });

    it('after a timeout, fails immediately until a probe succeeds, and probes by itself', async () => {
      storage.fault = new StorageTimeout('too late');
      probe = () => Promise.reject(new Error('too late'));
      await catchError(add(1n));
      storage.fault = undefined;
      expect(`${await catchError(add(1n))}`).to.include('an earlier write timed out');
      probe = async () => {};
      await waitUntil('a call succeeds', () => isAvailable(() => add(1n)));
      expect(probes).to.equal(2);
    });

    it('fails immediately while a probe hangs, also after a concurrent call fails with another error', async () => {
      storage.fault = 'hang';
      const concurrent = catchError(add(1n));
      storage.fault = new StorageTimeout('too late');
      probe = () => new Promise(() => {});
      await catchError(add(1n));
      storage.fault = new StorageUnavailable('no response');
      await storage.end();
      await concurrent;
      expect(`${await catchError(add(1n))}`).to.include('an earlier write timed out');
    });

    it('stops probing when it is closed', async () => {
      storage.fault = new StorageTimeout('too late');
      probe = () => Promise.reject(new Error('too late'));
      await catchError(add(1n));
      await repository.close();
      const before = probes;
      await setTimeout(FIRST_PAUSE_MS);
      expect(probes).to.equal(before);
    });
  });
});

/** A memory repository whose calls can fail, or hang until {@link end}. */
class FaultyRepository extends MemoryPlantRepository {
  fault: Error | 'hang' | undefined;
  /** Rejects each plant. */
  isRejecting = false;
  adds = 0;
  checks = 0;
  #ends: (() => void)[] = [];

  /** Ends the first calls that hang, or all, and then the fault. They fail if `fault` is an error. */
  async end(count = this.#ends.length): Promise<void> {
    for (const end of this.#ends.splice(0, count)) end();
    if (this.#ends.length === 0 && this.fault === 'hang') this.fault = undefined;
    await setImmediate();
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.adds++;
    await this.#pass();
    if (this.isRejecting) return plants.map(() => ({ kind: 'rejected', error: new PlantRejected('no') }));
    return super.add(plants);
  }

  override async ready(): Promise<void> {
    this.checks++;
    await this.#pass();
  }

  async #pass(): Promise<void> {
    if (this.fault === 'hang') await new Promise<void>((end) => this.#ends.push(end));
    if (this.fault instanceof Error) throw this.fault;
  }
}
