import { expect } from 'chai';
import { describe, it } from 'mocha';
import { BatchingPlantRepository, type BatchLimits } from '../../../../adapters/driven/batching/index.js';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { type AddOutcome, type Plant, PlantRejected, StorageUnavailable } from '../../../../core/index.js';
import { plantRepositoryContract } from '../../../contract/index.js';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';

describe('BatchingPlantRepository', () => {
  for (const [what, limits] of [
    ['large batches', {}],
    ['small batches and concurrent writes', { maxWrites: 3, maxBatchRows: 2, maxBatchBytes: 16 }],
  ] as const) {
    describe(`with ${what} meets the contract:`, () => {
      runContract(
        plantRepositoryContract({
          open: async () => {
            const { repository, storage } = createRepository(limits);
            const close = async () => {
              // The last call of the queue; it fails if the storage is closed already.
              await repository.add([]).catch(() => {});
              await storage.close();
            };
            return Object.assign(repository, { ready: () => storage.ready(), close });
          },
          rejectedPlant: () => plant(7_000_001n, 'poison'),
        }),
      );
    });
  }

  describe('batches', () => {
    it('calls of one turn of the event loop into one write of at most maxBatchRows plants', async () => {
      const { repository, writes } = createRepository({ maxBatchRows: 2 });
      await Promise.all([1n, 2n, 3n, 4n, 5n].map((id) => repository.add([plant(id)])));
      expect(writes()).to.deep.equal([[1n, 2n], [3n, 4n], [5n]]);
    });

    it('at most maxBatchBytes of text, except for a single larger plant', async () => {
      const { repository, writes } = createRepository({ maxBatchBytes: 8 });
      const named = (id: bigint, length: number) => repository.add([plant(id, 'n'.repeat(length))]);
      await Promise.all([named(1n, 2), named(2n, 2), named(3n, 1), named(4n, 100), named(5n, 1)]);
      expect(writes()).to.deep.equal([[1n, 2n], [3n], [4n], [5n]]);
    });

    it('the plants of one call into one write, even above maxBatchRows', async () => {
      const { repository, writes } = createRepository({ maxBatchRows: 2 });
      await Promise.all([repository.add([plant(1n)]), repository.add([plant(2n), plant(3n), plant(4n)])]);
      expect(writes()).to.deep.equal([[1n], [2n, 3n, 4n]]);
    });

    it('with at most maxWrites concurrent writes', async () => {
      const { repository, storage } = createRepository({ maxWrites: 2, maxBatchRows: 1 });
      const calls = [1n, 2n, 3n].map((id) => repository.add([plant(id)]));
      await storage.pauseWrites();
      expect(storage.inFlight).to.equal(2);
      storage.resume();
      await Promise.all(calls);
      expect(storage.maxInFlight).to.equal(2);
    });
  });

  describe('settles each call', () => {
    for (const [what, add] of [
      ['throws instead of returning a promise', () => throwError(new StorageUnavailable('the storage is unavailable'))],
      ['resolves to something other than an array', async () => JSON.parse('null')],
    ] as const) {
      it(`with an error if the storage ${what}`, async () => {
        const storage = Object.assign(new MemoryPlantRepository(), { add });
        const repository = new BatchingPlantRepository(storage);
        for (const id of [1n, 2n]) expect(await catchError(repository.add([plant(id)]))).to.be.instanceOf(Error);
      });
    }

    it('with the error of a failed write, without affecting the next write', async () => {
      const { repository, storage } = createRepository({ maxBatchRows: 2 });
      storage.failNext(new StorageUnavailable('the storage is unavailable'));
      const calls = [1n, 2n].map((id) => repository.add([plant(id)]));
      const next = repository.add([plant(1n)]);
      for (const call of calls) {
        expect(await catchError(call))
          .to.be.instanceOf(StorageUnavailable)
          .with.property('message', 'the storage is unavailable');
      }
      expect(await next).to.deep.equal([{ kind: 'added' }]);
    });
  });

  describe('when the queue is full', () => {
    for (const [what, limits] of [
      ['rows', { maxPendingRows: 2 }],
      ['bytes', { maxPendingBytes: 8 }],
    ] as const) {
      it(`throws StorageUnavailable immediately (${what}), and writes the pending calls together, in order`, async () => {
        const { repository, storage, writes } = createRepository(limits);
        const writing = repository.add([plant(1n, 'ab')]);
        await storage.pauseWrites();
        const waiting = [3n, 2n].map((id) => repository.add([plant(id, 'ab')]));
        expect(await catchError(repository.add([plant(4n, 'ab')])))
          .to.be.instanceOf(StorageUnavailable)
          .with.property('message', 'too many pending plants');
        storage.resume();
        await Promise.all([writing, ...waiting]);
        await repository.add([plant(4n, 'ab')]);
        expect(writes()).to.deep.equal([[1n], [3n, 2n], [4n]]);
      });
    }
  });

  for (const limit of [0, -1, Number.NaN]) {
    it(`throws a RangeError for a limit of ${limit}`, () => {
      expect(() => new BatchingPlantRepository(new MemoryPlantRepository(), { maxWrites: limit })).to.throw(
        RangeError,
        'maxWrites must be at least 1',
      );
    });
  }
});

function throwError(error: Error): never {
  throw error;
}

/** Creates a batching repository around a {@link ControlledRepository}. */
function createRepository(limits: BatchLimits = {}) {
  const storage = new ControlledRepository();
  return { repository: new BatchingPlantRepository(storage, limits), storage, writes: () => storage.writes };
}

/** A memory repository that records the ids of each write, and can pause and fail writes. */
class ControlledRepository extends MemoryPlantRepository {
  readonly writes: bigint[][] = [];
  inFlight = 0;
  maxInFlight = 0;
  #failure: Error | undefined;
  #gate = Promise.resolve();
  resume: () => void = () => {};
  #onWrite: () => void = () => {};

  /** Pauses writes until {@link resume}. Resolves when a write has started. */
  pauseWrites(): Promise<void> {
    this.#gate = new Promise((resume) => {
      this.resume = resume;
    });
    return new Promise((onWrite) => {
      this.#onWrite = onWrite;
    });
  }

  failNext(error: Error): void {
    this.#failure = error;
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.writes.push(plants.map(({ id }) => id));
    this.inFlight++;
    this.maxInFlight = Math.max(this.maxInFlight, this.inFlight);
    // Runs after all concurrent writes have started.
    queueMicrotask(this.#onWrite);
    try {
      await this.#gate;
      const failure = this.#failure;
      this.#failure = undefined;
      if (failure) throw failure;
      const outcomes = await super.add([]);
      for (const one of plants) {
        if (one.name === 'poison') outcomes.push({ kind: 'rejected', error: new PlantRejected('no') });
        else outcomes.push(...(await super.add([one])));
      }
      return outcomes;
    } finally {
      this.inFlight--;
    }
  }
}

function plant(id: bigint, name = ''): Plant {
  return toPlant({ id, name });
}
