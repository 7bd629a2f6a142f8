import { EventEmitter, once } from 'node:events';
import { setImmediate, setTimeout } from 'node:timers/promises';
import { BatchingPlantWriter, type BatchLimits } from '@plant-store/adapters/batching';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { plantRepositoryContract } from '@plant-store/contract';
import { type Plant, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';
import { runContract } from '../../../support/run-contract.js';

const toPlants = (...ids: readonly bigint[]) => ids.map((id) => toPlant({ id, name: 'Monstera' }));

/** Longer than a write after which the next one waits for callers, in milliseconds. */
const SLOW_MS = 5;

/** Creates a writer around a memory repository whose writes are recorded and can be held. */
function createWriter(limits: BatchLimits = {}) {
  const storage = new MemoryPlantRepository();
  const events = new EventEmitter();
  /** The events that the next writes wait for. The event `error` fails the writes that wait. */
  const holds: string[] = [];
  /** The ids of each write. */
  const writes: bigint[][] = [];
  const add = async (plants: readonly Plant[]) => {
    writes.push(plants.map(({ id }) => id));
    const event = holds.shift();
    if (event !== undefined) await once(events, event);
    return storage.add(plants);
  };
  const writer = new BatchingPlantWriter({ add }, limits);
  /** Adds plants in successive turns of the event loop. The outcome of each is a kind or an error. */
  const addInTurns = async (...ids: readonly bigint[]) => {
    const outcomes: Promise<string | undefined>[] = [];
    for (const id of ids) {
      outcomes.push(writer.add(toPlants(id)).then(([outcome]) => outcome?.kind, String));
      await setImmediate();
    }
    return outcomes;
  };
  return { writer, storage, events, holds, writes, addInTurns };
}

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
          close: () => writer.drain().then(() => storage.close()),
        };
      },
    }),
  );

  it('writes the calls of one turn of the event loop together, and those that arrive during maxWrites writes', async () => {
    const { writer, events, holds, writes, addInTurns } = createWriter({ maxWrites: 2 });
    holds.push('release', 'release');
    const calls = [toPlants(1n), toPlants(2n, 3n)].map((plants) => writer.add(plants));
    await Promise.resolve();
    const outcomes = [...calls, ...(await addInTurns(4n, 5n, 6n, 7n))];
    expect(writes).to.deep.equal([[1n, 2n, 3n, 4n], [5n]]);
    events.emit('release');
    await Promise.all(outcomes);
    expect(writes).to.deep.equal([[1n, 2n, 3n, 4n], [5n], [6n, 7n]]);
  });

  it('after a slow write, waits until as many calls are pending as were made meanwhile', async () => {
    const { writer, events, holds, writes, addInTurns } = createWriter();
    holds.push('release');
    const [first, ...others] = await addInTurns(1n, 2n, 3n);
    await setTimeout(SLOW_MS);
    events.emit('release');
    await first;
    await Promise.all([...others, writer.add(toPlants(4n))]);
    expect(writes).to.deep.equal([[1n], [2n, 3n, 4n]]);
  });

  it('settles each call of a batch with the error of its write, and writes the next batch', async () => {
    const { writer, events, holds } = createWriter();
    holds.push('release');
    const calls = [1n, 2n].map((id) => catchError(writer.add(toPlants(id))));
    await setImmediate();
    const next = writer.add(toPlants(1n));
    const failure = new StorageUnavailable('the storage is unavailable');
    events.emit('error', failure);
    expect(await Promise.all(calls)).to.deep.equal([failure, failure]);
    expect(await next).to.deep.equal([{ kind: 'added' }]);
  });

  describe('after a write has timed out', () => {
    const TIMED_OUT = 'StorageUnavailable: the storage did not respond within 100 ms';

    it('as the last of maxWrites in a row, not before, fails the calls behind it, and others at once', async () => {
      const { holds, addInTurns } = createWriter({ maxWrites: 2, timeoutMs: 100 });
      for (const id of [1n, 3n]) {
        holds.push('never');
        for (const outcome of await addInTurns(id)) expect(await outcome).to.equal(TIMED_OUT);
        for (const outcome of await addInTurns(id + 1n)) expect(await outcome).to.equal('added');
      }
      holds.push('never', 'never');
      expect(await Promise.all(await addInTurns(5n, 6n, 7n))).to.deep.equal([TIMED_OUT, TIMED_OUT, TIMED_OUT]);
      expect(await (await addInTurns(8n))[0]).to.equal('StorageUnavailable: an earlier write timed out');
    });

    it('or hangs beside another one, starts the next one when the other one ends, without waiting for callers', async () => {
      const { events, holds, writes, addInTurns } = createWriter({ maxWrites: 2, timeoutMs: 100 });
      holds.push('never');
      const [hanging] = await addInTurns(1n);
      for (const [id, end] of [[2n, setTimeout(SLOW_MS)] as const, [5n, hanging] as const]) {
        holds.push('release');
        const outcomes = await addInTurns(id, id + 1n);
        await end;
        events.emit('release');
        await outcomes[0];
        outcomes.push(...(await addInTurns(id + 2n)));
        expect(await Promise.all(outcomes)).to.deep.equal(['added', 'added', 'added']);
      }
      expect(await hanging).to.equal(TIMED_OUT);
      expect(writes).to.deep.equal([[1n], [2n], [3n], [4n], [5n], [6n], [7n]]);
    });
  });

  it('fails the calls of a batch for which the decorated writer does not return one outcome per plant', async () => {
    const writer = new BatchingPlantWriter({ add: async () => [{ kind: 'added' }] });
    expect(await catchError(writer.add(toPlants(1n, 2n)))).to.match(/one outcome per plant/);
  });

  it('drains once every call has settled, those made meanwhile, too', async () => {
    const { writer, events, holds } = createWriter();
    await writer.drain();
    holds.push('release');
    const settled: string[] = [];
    const first = writer.add(toPlants(1n)).then(() => settled.push('first'));
    const drained = writer.drain().then(() => settled.push('drained'));
    await setImmediate();
    const second = writer.add(toPlants(2n)).then(() => settled.push('second'));
    // The second write waits for more calls.
    await setTimeout(SLOW_MS);
    events.emit('release');
    await Promise.all([first, drained, second]);
    expect(settled).to.deep.equal(['first', 'second', 'drained']);
  });
});
