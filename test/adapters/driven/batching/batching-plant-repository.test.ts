import { setImmediate } from 'node:timers/promises';
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
  // Batches of a few calls, and concurrent writes.
  const limits = { maxWrites: 3, maxBatchRows: 5, maxBatchBytes: 64 };
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

  describe('batches', () => {
    it('calls of one turn of the event loop into one write of at most maxBatchRows plants, or of one call', async () => {
      const { repository, storage } = createRepository({ maxBatchRows: 2 });
      await Promise.all(
        [[1n], [2n], [3n], [4n, 5n, 6n], [7n]].map((ids) => repository.add(ids.map((id) => plant(id)))),
      );
      expect(storage.writes).to.deep.equal([[1n, 2n], [3n], [4n, 5n, 6n], [7n]]);
    });

    it('at most maxBatchBytes of text, except for a single larger plant', async () => {
      const { repository, storage } = createRepository({ maxBatchBytes: 8 });
      const named = (id: bigint, length: number) => repository.add([plant(id, 'n'.repeat(length))]);
      await Promise.all([named(1n, 2), named(2n, 2), named(3n, 1), named(4n, 100), named(5n, 1)]);
      expect(storage.writes).to.deep.equal([[1n, 2n], [3n], [4n], [5n]]);
    });

    it('with at most maxWrites concurrent writes', async () => {
      const { repository, storage } = createRepository({ maxWrites: 2, maxBatchRows: 1 });
      storage.pauseWrites();
      const calls = [1n, 2n, 3n].map((id) => repository.add([plant(id)]));
      await setImmediate();
      expect(storage.writes).to.deep.equal([[1n], [2n]]);
      storage.resume();
      await Promise.all(calls);
    });
  });

  describe('settles each call', () => {
    for (const [what, add] of [
      [
        'throws instead of returning a promise',
        () => {
          throw new StorageUnavailable('the storage is unavailable');
        },
      ],
      ['resolves to something other than an array', async () => JSON.parse('null')],
    ] as const) {
      it(`with an error if the storage ${what}`, async () => {
        const repository = new BatchingPlantRepository(Object.assign(new MemoryPlantRepository(), { add }));
        for (const id of [1n, 2n]) expect(await catchError(repository.add([plant(id)]))).to.be.instanceOf(Error);
      });
    }

    it('with the error of a failed write, without affecting the next write', async () => {
      const { repository, storage } = createRepository({ maxBatchRows: 2 });
      const failure = new StorageUnavailable('the storage is unavailable');
      storage.failure = failure;
      const calls = [1n, 2n].map((id) => catchError(repository.add([plant(id)])));
      const next = repository.add([plant(1n)]);
      expect(await Promise.all(calls)).to.deep.equal([failure, failure]);
      expect(await next).to.deep.equal([{ kind: 'added' }]);
    });
  });

  for (const [what, fullAt] of [
    ['rows', { maxPendingRows: 2 }],
    ['bytes', { maxPendingBytes: 8 }],
  ] as const) {
    it(`when the queue is full of ${what}, throws StorageUnavailable, and writes the pending calls together, in order`, async () => {
      const { repository, storage } = createRepository(fullAt);
      storage.pauseWrites();
      const writing = repository.add([plant(1n, 'ab')]);
      await setImmediate();
      const waiting = [3n, 2n].map((id) => repository.add([plant(id, 'ab')]));
      expect(await catchError(repository.add([plant(4n, 'ab')])))
        .to.be.instanceOf(StorageUnavailable)
        .with.property('message', 'too many pending plants');
      storage.resume();
      await Promise.all([writing, ...waiting]);
      await repository.add([plant(4n, 'ab')]);
      expect(storage.writes).to.deep.equal([[1n], [3n, 2n], [4n]]);
    });
  }

  it('throws a RangeError for a limit below 1', () => {
    for (const maxWrites of [0, Number.NaN])
      expect(() => createRepository({ maxWrites })).to.throw(RangeError, 'maxWrites must be at least 1');
  });
});

function createRepository(limits: BatchLimits) {
  const storage = new ControlledRepository();
  return { repository: new BatchingPlantRepository(storage, limits), storage };
}

/** A memory repository that records the ids of each write, can pause and fail writes, and rejects plants named `poison`. */
class ControlledRepository extends MemoryPlantRepository {
  readonly writes: bigint[][] = [];
  /** The error of the next write. */
  failure: Error | undefined;
  resume: () => void = () => {};
  #gate = Promise.resolve();

  /** Pauses writes until {@link resume}. */
  pauseWrites(): void {
    this.#gate = new Promise((resume) => {
      this.resume = resume;
    });
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.writes.push(plants.map(({ id }) => id));
    await this.#gate;
    const { failure } = this;
    this.failure = undefined;
    if (failure) throw failure;
    const outcomes = await super.add([]);
    for (const one of plants) {
      if (one.name === 'poison') outcomes.push({ kind: 'rejected', error: new PlantRejected('no') });
      else outcomes.push(...(await super.add([one])));
    }
    return outcomes;
  }
}

function plant(id: bigint, name = ''): Plant {
  return toPlant({ id, name });
}
