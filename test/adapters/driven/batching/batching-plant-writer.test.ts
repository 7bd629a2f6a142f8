import { setImmediate } from 'node:timers/promises';
import { BatchingPlantWriter, type BatchLimits } from '@plant-store/adapters/batching';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { plantRepositoryContract } from '@plant-store/contract';
import { type AddOutcome, type Plant, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';

describe('BatchingPlantWriter', () => {
  runContract(
    plantRepositoryContract({
      open: async () => {
        const { writer, storage } = createWriter({ maxWrites: 3 });
        return {
          add: (plants) => writer.add(plants),
          find: (id) => storage.find(id),
          read: (from, limit) => storage.read(from, limit),
          ready: () => storage.ready(),
          close: async () => {
            await writer.drain();
            await storage.close();
          },
        };
      },
      rejectedPlant: () => plant(7_000_001n, 'poison'),
    }),
  );

  it('writes the calls of one turn of the event loop together', async () => {
    const { writer, storage } = createWriter({});
    const addAll = (...calls: readonly bigint[][]) =>
      Promise.all(calls.map((ids) => writer.add(ids.map((id) => plant(id)))));
    await addAll([1n], [2n, 3n], [4n]);
    await addAll([5n]);
    expect(storage.writes).to.deep.equal([[1n, 2n, 3n, 4n], [5n]]);
  });

  it('starts at most maxWrites concurrent writes, and the next one with the calls that arrived meanwhile', async () => {
    const { storage, addNow } = createWriter({ maxWrites: 2 });
    const releases = [storage.holdNext(), storage.holdNext()];
    const calls = [await addNow(1n), await addNow(2n), await addNow(3n), await addNow(4n)];
    expect(storage.writes).to.deep.equal([[1n], [2n]]);
    for (const release of releases) release();
    await Promise.all(calls.map(({ outcome }) => outcome));
    expect(storage.writes).to.deep.equal([[1n], [2n], [3n, 4n]]);
  });

  it('settles each call of a batch with the error of its write, and writes the next batch', async () => {
    const { writer, storage } = createWriter({});
    const failure = new StorageUnavailable('the storage is unavailable');
    storage.failure = failure;
    const calls = [1n, 2n].map((id) => catchError(writer.add([plant(id)])));
    await setImmediate();
    const next = writer.add([plant(1n)]);
    expect(await Promise.all(calls)).to.deep.equal([failure, failure]);
    expect(await next).to.deep.equal([{ kind: 'added' }]);
  });

  it('after every write in flight has timed out, fails the calls behind them, and others at once', async () => {
    const { storage, addNow } = createWriter({ maxWrites: 2, timeoutMs: 20 });
    storage.holdNext();
    storage.holdNext();
    const calls = [await addNow(1n), await addNow(2n), await addNow(3n)];
    for (const { outcome } of calls)
      expect(await outcome).to.equal('StorageUnavailable: the storage did not respond within 20 ms');
    expect(await (await addNow(4n)).outcome).to.equal('StorageUnavailable: an earlier write timed out');
    expect(storage.writes).to.deep.equal([[1n], [2n]]);
  });

  it('after a write has timed out beside another one, starts the next one when the other one ends', async () => {
    const { storage, addNow } = createWriter({ maxWrites: 2, timeoutMs: 20 });
    const [, release] = [storage.holdNext(), storage.holdNext()];
    const [first, second, third] = [await addNow(1n), await addNow(2n), await addNow(3n)];
    expect(await first.outcome).to.match(/did not respond/);
    expect(storage.writes).to.deep.equal([[1n], [2n]]);
    // In the turn of the first time-out, and so before the second one.
    release();
    expect([await second.outcome, await third.outcome]).to.deep.equal(['added', 'added']);
  });

  it('goes on at once after a write has timed out if another one has ended meanwhile', async () => {
    const { storage, addNow } = createWriter({ maxWrites: 2, timeoutMs: 20 });
    storage.holdNext();
    const [first, second] = [await addNow(1n), await addNow(2n)];
    expect([await second.outcome, await first.outcome]).to.have.members([
      'added',
      'StorageUnavailable: the storage did not respond within 20 ms',
    ]);
    expect(await (await addNow(3n)).outcome).to.equal('added');
  });

  it('fails the calls of a batch for which the decorated writer does not return one outcome per plant', async () => {
    const { writer, storage } = createWriter({});
    storage.add = async () => [{ kind: 'added' }];
    expect(await catchError(writer.add([plant(1n), plant(2n)]))).to.match(/one outcome per plant/);
  });

  it('drains once every call has settled, those made meanwhile, too', async () => {
    const { writer, storage } = createWriter({});
    await writer.drain();
    const settled: string[] = [];
    const note = (call: Promise<unknown>, name: string) => call.then(() => settled.push(name));
    const release = storage.holdNext();
    const before = [note(writer.add([plant(1n)]), 'first'), note(writer.drain(), 'drained before the write')];
    await setImmediate();
    const during = [note(writer.drain(), 'drained during the write'), note(writer.add([plant(2n)]), 'second')];
    release();
    await Promise.all([...before, ...during]);
    expect(settled).to.deep.equal(['first', 'second', 'drained before the write', 'drained during the write']);
  });

  it('fails the calls behind a write, too, if the storage gives up just before the time limit', async () => {
    const locked = new StorageUnavailable('the database is locked');
    const { storage, addNow } = createWriter({ timeoutMs: 5 });
    storage.add = async (plants) => {
      storage.writes.push(plants.map(({ id }) => id));
      await setImmediate();
      // Blocks the event loop, so that the time limit cannot be first.
      for (const start = performance.now(); performance.now() < start + 5; );
      throw locked;
    };
    const calls = [await addNow(1n), await addNow(2n)];
    for (const { outcome } of calls) expect(await outcome).to.equal(`${locked}`);
    expect(storage.writes).to.deep.equal([[1n]]);
  });
});

function createWriter(limits: BatchLimits) {
  const storage = new ControlledRepository();
  const writer = new BatchingPlantWriter(storage, limits);
  /** Adds a plant, and resolves when a write may have started. The outcome is a kind or an error. */
  const addNow = async (id: bigint) => {
    const outcome = writer.add([plant(id)]).then(([each]) => each?.kind, String);
    await setImmediate();
    return { outcome };
  };
  return { writer, storage, addNow };
}

/** A memory repository that records the ids of each write, can hold and fail writes, and rejects plants named `poison`. */
class ControlledRepository extends MemoryPlantRepository {
  readonly writes: bigint[][] = [];
  /** The error of the next write. */
  failure: Error | undefined;
  readonly #holds: Promise<void>[] = [];

  /** Holds the next write that is not held yet, until the returned function is called. */
  holdNext(): () => void {
    let release = () => {};
    this.#holds.push(
      new Promise((resolve) => {
        release = resolve;
      }),
    );
    return () => release();
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.writes.push(plants.map(({ id }) => id));
    const { failure } = this;
    this.failure = undefined;
    await this.#holds.shift();
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
