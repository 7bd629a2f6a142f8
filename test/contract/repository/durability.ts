import type { Plant } from '@plant-store/core';
import { type Cases, ContractViolation } from '../contract.js';
import { isAvailable, readPlants, toOther } from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { createPlants, PLANTS_WITH_IDS, PLANTS_WITH_TEXTS, plant } from '../sample-plants.js';

const REOPENED = 'plants read after reopening (if none, reopen() may open other storage)';

/** Plants that survive a restart. */
export const durableCases: Cases<TestStorage> = {
  'returns ids, strings and the first plant with an id unchanged after reopening': async ({ open, reopen }) => {
    for (const stored of [PLANTS_WITH_IDS, PLANTS_WITH_TEXTS]) {
      const repository = await open();
      const expected = [...stored.map(() => 'added' as const), ...stored];
      await repository.assertOutcomes([...stored, ...stored.map(toOther)], expected);
      await repository.close();
      // Each may be the first call, because some repositories load an index at that time.
      await (await reopen()).assertContent(stored, REOPENED);
      await (await reopen()).assertFound(stored);
      await (await reopen()).assertHolders(stored);
    }
  },

  'returns every added plant after a crash and after closing, and adds more': async ({ repository, reopen }) => {
    const [stored, more] = [createPlants(2500), createPlants(500, 2500n)];
    for (let start = 0; start < stored.length; start += 500) await repository.addAll(stored.slice(start, start + 500));
    const afterCrash = await reopen();
    await afterCrash.assertContent(stored, REOPENED);
    await afterCrash.addAll(more);
    await afterCrash.close();
    await (await reopen()).assertContent([...stored, ...more], REOPENED);
  },

  'reports a conflict only after the stored plant would survive a crash': async ({ repository, reopen }) => {
    // The losers of the race may see the winner before it is durable.
    let reopened: Promise<unknown> = Promise.resolve();
    const adding = ['one', 'two', 'three'].map(async (name) => {
      const [outcome] = await repository.add([plant(1n, name)]);
      if (outcome?.kind !== 'conflict') return;
      // One at a time, because some databases can be open only once.
      reopened = reopened.then(() => assertDurable(reopen, [outcome.stored]));
      await reopened;
    });
    await Promise.all(adding);
  },

  'after reopening, returns every plant that was added during close': async ({ repository, reopen }) => {
    const added: Plant[] = [];
    const adding = createPlants(40).map(async (candidate) => {
      if (await isAvailable(() => repository.addAll([candidate]))) added.push(candidate);
    });
    await Promise.all([...adding, repository.close()]);
    if (added.length === 0) throw new ContractViolation('close failed every call in flight');
    await assertDurable(reopen, added);
  },
};

/** Reopens the storage and asserts that it contains `stored`, possibly among others. */
export async function assertDurable(reopen: TestStorage['reopen'], stored: readonly Plant[]): Promise<void> {
  const repository = await reopen();
  const survivors = new Map((await readPlants(repository)).map((survivor) => [survivor.id, survivor]));
  await repository.close();
  const lost = stored.find((each) => !survivors.get(each.id)?.equals(each));
  if (lost) throw new ContractViolation(`"${lost.name}" was added or read, but the reopened storage lacks it`);
}
