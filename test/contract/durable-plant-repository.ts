import type { Plant } from '../../core/index.js';
import { type RawTexts, TEXT_FIELDS } from './sample-plants.js';
import { ContractViolation, contractCase, describe, type HarnessCase, InvalidHarness } from './contract.js';
import {
  addAll,
  assertContent,
  assertHolders,
  type HarnessWith,
  isAvailable,
  type OpenPlantRepository,
  readPlants,
  useRepository,
} from './repository-checks.js';
import { createPlants, EMPTY_WORDS, IDS, plant, plantWith, SIMILAR_PLANTS, TEXTS } from './sample-plants.js';

/** Cases for repositories whose plants survive a restart. */
export const durableCases: readonly HarnessCase<HarnessWith<'reopen'>>[] = [
  contractCase('returns every plant unchanged after reopening', async (harness) => {
    const texts: readonly RawTexts[] = [
      ...[...TEXTS, ...EMPTY_WORDS].flatMap((text) =>
        TEXT_FIELDS.map((field) => ({ name: 'Monstera', [field]: text })),
      ),
      ...SIMILAR_PLANTS.flat(),
    ];
    const stored = [
      ...IDS.map((id) => plant(id, `${id}`)),
      ...texts.map((fields, index) => plantWith(5_000_000n + BigInt(index), fields)),
    ];
    await useRepository(harness, 'open', (repository) => addAll(repository, stored));
    await useReopened(harness, stored, (repository) => assertHolders(repository, stored));
  }),

  contractCase('returns every added plant after a crash', async (harness) => {
    const stored = createPlants(2500);
    await useRepository(harness, 'open', async (crashed) => {
      for (let start = 0; start < stored.length; start += 500) await addAll(crashed, stored.slice(start, start + 500));
      await useReopened(harness, stored, async (repository) => {
        if (repository === crashed)
          throw new InvalidHarness('reopen() must open a new repository, but it returned the previous one');
      });
    });
  }),

  contractCase('returns the same holder of an id after reopening', async (harness) => {
    const stored = [plant(1n, 'Monstera', 'indoor'), plant(2n, 'Ficus')];
    await useRepository(harness, 'open', async (repository) => {
      await addAll(repository, stored);
      await assertHolders(repository, stored);
      await repository.add([plant(3n, 'first'), plant(3n, 'second')]);
    });
    await useReopened(harness, [...stored, plant(3n, 'first')], async (repository) => {
      await assertHolders(repository, stored);
      await assertContent(repository, [...stored, plant(3n, 'first')]);
    });
  }),

  contractCase('returns taken only after the holder would survive a crash', async (harness) => {
    await useRepository(harness, 'open', async (crashed) => {
      // The losers of the race may see the winner before it is durable.
      let reopened = Promise.resolve();
      const adding = ['one', 'two', 'three'].map(async (name) => {
        const [outcome] = await crashed.add([plant(1n, name)]);
        if (outcome?.kind !== 'taken') return;
        // One at a time, because some databases can be open only once.
        reopened = reopened.then(() => useReopened(harness, [outcome.holder]));
        await reopened;
      });
      await Promise.all(adding);
    });
  }),

  contractCase('after reopening, returns every plant that was added during close', async (harness) => {
    const added: Plant[] = [];
    await useRepository(harness, 'open', async (repository) => {
      const adding = createPlants(40).map(async (candidate) => {
        const isAdded = await isAvailable(async () => {
          const outcomes = await repository.add([candidate]);
          if (outcomes[0]?.kind !== 'added') throw new ContractViolation('add of a free id must return added');
        });
        if (isAdded) added.push(candidate);
      });
      await Promise.all([...adding, repository.close()]);
    });
    // An add that threw may have stored its plant.
    await assertDurable(harness, added);
  }),

  contractCase('adds plants after each reopening', async (harness) => {
    const stored = createPlants(5);
    for (const [index, candidate] of stored.entries()) {
      await useRepository(harness, index === 0 ? 'open' : 'reopen', async (repository) => {
        await addAll(repository, [candidate]);
        await assertContent(repository, stored.slice(0, index + 1));
      });
    }
  }),
];

/** Reopens the storage, asserts that it contains exactly the plants that are `expected`, and runs `check`. */
export function useReopened(
  harness: HarnessWith<'reopen'>,
  expected: readonly Plant[],
  check: (repository: OpenPlantRepository) => Promise<void> = async () => {},
): Promise<void> {
  return useRepository(harness, 'reopen', async (repository) => {
    if (expected.length > 0 && (await readPlants(repository)).length === 0)
      throw new ContractViolation(
        'the reopened storage is empty: the adapter wrote nothing, or reopen() of the harness opens other storage',
      );
    await assertContent(repository, expected, 'plants read after reopening');
    await check(repository);
  });
}

/** Reopens the storage and asserts that it contains `stored`, possibly among others. */
export function assertDurable(harness: HarnessWith<'reopen'>, stored: readonly Plant[]): Promise<void> {
  return useRepository(harness, 'reopen', async (repository) => {
    const survivors = new Map((await readPlants(repository)).map((survivor) => [survivor.id, survivor]));
    const lost = stored.find((each) => !survivors.get(each.id)?.equals(each));
    if (lost) throw new ContractViolation(`${describe(lost)} was stored or read, but the reopened storage lacks it`);
  });
}
