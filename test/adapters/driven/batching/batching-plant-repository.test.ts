import { AsyncLocalStorage } from 'node:async_hooks';
import { setImmediate } from 'node:timers/promises';
import { BatchingPlantRepository, type BatchLimits } from '@plant-store/adapters/batching';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { plantRepositoryContract } from '@plant-store/contract';
import { type AddOutcome, type Plant, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';

describe('BatchingPlantRepository', () => {
  runContract(
    plantRepositoryContract({
      open: async () => {
        // Batches of a few calls, and concurrent writes.
        const { repository, storage } = createRepository({ maxWrites: 3, maxBatchRows: 5 });
        const close = async () => {
          await repository.drain();
          await storage.close();
        };
        return Object.assign(repository, { ready: () => storage.ready(), close });
      },
      rejectedPlant: () => plant(7_000_001n, 'poison'),
    }),
  );

  it('batches calls of one turn of the event loop into writes of at most maxBatchRows plants, or of one call', async () => {
    const { repository, storage } = createRepository({ maxBatchRows: 2 });
    await Promise.all([[1n], [2n], [3n], [4n, 5n, 6n], [7n]].map((ids) => repository.add(ids.map((id) => plant(id)))));
    expect(storage.writes).to.deep.equal([[1n, 2n], [3n], [4n, 5n, 6n], [7n]]);
  });

  it('starts at most maxWrites concurrent writes', async () => {
    const { repository, storage } = createRepository({ maxWrites: 2, maxBatchRows: 1 });
    storage.pauseWrites();
    const calls = [1n, 2n, 3n].map((id) => repository.add([plant(id)]));
    await setImmediate();
    expect(storage.writes).to.deep.equal([[1n], [2n]]);
    storage.resume();
    await Promise.all(calls);
  });

  it('starts a concurrent write once as many calls wait as the latest write has', async () => {
    const { repository, storage } = createRepository({ maxWrites: 2 });
    storage.pauseWrites();
    const calls: Promise<unknown>[] = [];
    for (const ids of [[1n, 2n], [3n], [4n]]) {
      calls.push(...ids.map((id) => repository.add([plant(id)])));
      await setImmediate();
    }
    expect(storage.writes).to.deep.equal([
      [1n, 2n],
      [3n, 4n],
    ]);
    storage.resume();
    await Promise.all(calls);
  });

  it('runs a write in the AsyncLocalStorage context of one of its calls, and continues each call in its own', async () => {
    const tenants = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    class Observer extends MemoryPlantRepository {
      override add(plants: readonly Plant[]) {
        seen.push([tenants.getStore(), plants.length]);
        return super.add(plants);
      }
    }
    const repository = new BatchingPlantRepository(new Observer());
    const addFor = async (id: bigint) => {
      await repository.add([plant(id)]);
      return tenants.getStore();
    };
    const calls = [tenants.run('first', addFor, 1n), tenants.run('second', addFor, 2n)];
    expect(await Promise.all(calls)).to.deep.equal(['first', 'second']);
    expect(seen).to.deep.equal([['first', 2]]);
  });

  it('settles each call of a batch with the error of its write, and writes the next batch', async () => {
    const { repository, storage } = createRepository({ maxBatchRows: 2 });
    const failure = new StorageUnavailable('the storage is unavailable');
    storage.failure = failure;
    const calls = [1n, 2n].map((id) => catchError(repository.add([plant(id)])));
    const next = repository.add([plant(1n)]);
    expect(await Promise.all(calls)).to.deep.equal([failure, failure]);
    expect(await next).to.deep.equal([{ kind: 'added' }]);
  });

  it('after a write that takes too long, fails the calls behind it, and others at once', async () => {
    const { repository, storage } = createRepository({ timeoutMs: 20 });
    storage.pauseWrites();
    const writing = catchError(repository.add([plant(1n)]));
    await setImmediate();
    const behind = catchError(repository.add([plant(2n)]));
    for (const call of [writing, behind])
      expect(`${await call}`).to.equal('StorageUnavailable: the storage did not respond within 20 ms');
    expect(`${await catchError(repository.add([plant(3n)]))}`).to.match(/an earlier write timed out/);
    expect(storage.writes).to.deep.equal([[1n]]);
    storage.resume();
  });

  it('drains once every call has settled, those made meanwhile, too', async () => {
    const { repository, storage } = createRepository({});
    await repository.drain();
    const settled: string[] = [];
    const note = (call: Promise<unknown>, name: string) => call.then(() => settled.push(name));
    storage.pauseWrites();
    const before = [note(repository.add([plant(1n)]), 'first'), note(repository.drain(), 'drained before the write')];
    await setImmediate();
    const during = [note(repository.drain(), 'drained during the write'), note(repository.add([plant(2n)]), 'second')];
    storage.resume();
    await Promise.all([...before, ...during]);
    expect(settled).to.deep.equal(['first', 'second', 'drained before the write', 'drained during the write']);
  });

  it('fails the calls behind a write, too, if the storage gives up just before the time limit', async () => {
    const locked = new StorageUnavailable('the database is locked');
    const storage = new ControlledRepository();
    storage.add = async (plants) => {
      storage.writes.push(plants.map(({ id }) => id));
      // Blocks the event loop, so that the time limit cannot be first.
      for (const start = performance.now(); performance.now() < start + 5; );
      throw locked;
    };
    const repository = new BatchingPlantRepository(storage, { timeoutMs: 5, maxBatchRows: 1 });
    const calls = [1n, 2n].map((id) => catchError(repository.add([plant(id)])));
    expect(await Promise.all(calls)).to.deep.equal([locked, locked]);
    expect(storage.writes).to.deep.equal([[1n]]);
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
      if (one.name === 'poison') outcomes.push({ kind: 'rejected', error: new Error('no') });
      else outcomes.push(...(await super.add([one])));
    }
    return outcomes;
  }
}

function plant(id: bigint, name = ''): Plant {
  return toPlant({ id, name });
}
