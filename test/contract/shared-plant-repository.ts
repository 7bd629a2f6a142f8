import type { Plant, PlantRepository } from '../../core/index.js';
import { type ContractCase, ContractViolation, contractCase, InvalidHarness } from './contract.js';
import {
  addAll,
  addConcurrently,
  assertBatch,
  assertContent,
  assertHolders,
  assertOutcomes,
  type PlantRepositoryHarness,
  useRepository,
} from './repository-checks.js';
import { createPlants, plant } from './sample-plants.js';

/** Gives the cases access to an adapter whose storage several repositories can have open, as several processes do. */
export interface SharedPlantRepositoryHarness extends PlantRepositoryHarness {
  /**
   * Opens the storage of the last `open` once more, while the other repositories have it open, with its own
   * connection or file handle. The case closes it.
   */
  openAnother(): Promise<PlantRepository>;
}

/** Number of ids for which two repositories compete. */
const RACES = 50;

/** Additional contract of repositories whose storage several processes can open. */
export const sharedPlantRepositoryContract: readonly ContractCase<SharedPlantRepositoryHarness>[] = [
  sharedCase('sees what another repository added before', async (one, another) => {
    const [first, second, third] = [plant(1n, 'Monstera'), plant(2n, 'Ficus', 'indoor'), plant(0n, 'Aloe')];
    await addAll(one, [first]);
    await assertSees(another, [first]);
    await addAll(another, [second]);
    await assertSees(one, [first, second]);
    await addAll(one, [third]);
    await assertSees(another, [first, second, third]);
  }),

  sharedCase('returns the holder of an id that another repository added', async (one, another) => {
    const [first, second] = [plant(1n, 'Monstera'), plant(2n, 'Ficus', 'indoor')];
    await addAll(one, [first]);
    await assertHolders(another, [first]);
    await addAll(another, [second]);
    await assertHolders(one, [first, second]);
    await assertOutcomes(one, [second, plant(3n, 'Aloe')], [['taken', second], ['added']]);
    await assertContent(another, [first, second, plant(3n, 'Aloe')]);
  }),

  sharedCase('adds each id once when two repositories add it concurrently', async (one, another) => {
    const winners: Plant[] = [];
    for (let id = 0n; id < RACES; id++) {
      const race = [
        [one, [plant(id, 'of one', 'tag')]],
        [another, [plant(id, 'of another')]],
      ] as const;
      winners.push(...(await addConcurrently(id % 2n === 0n ? race : race.toReversed())));
    }
    await assertContent(one, winners);
    await assertContent(another, winners);
  }),

  sharedCase('adds each id once for many concurrent calls of two repositories', async (one, another) => {
    const calls = createPlants(RACES).flatMap(({ id }) => [
      [one, [plant(id, 'of one')]] as const,
      [another, [plant(id, 'of another')]] as const,
    ]);
    const winners = await addConcurrently(calls);
    await assertContent(one, winners);
    await assertContent(another, winners);
  }),

  sharedCase(
    'adds each id once for overlapping batches of two repositories in different order',
    async (one, another) => {
      const calls = Array.from({ length: 6 }, (_, call) => {
        const candidates = createPlants(200).map(({ id }) => plant(id, `of call ${call}`));
        return [call % 2 === 0 ? one : another, call % 3 === 0 ? candidates.reverse() : candidates] as const;
      });
      const winners = await addConcurrently(calls);
      await assertContent(one, winners);
      await assertContent(another, winners);
    },
  ),

  sharedCase('stores what both repositories add in turn', async (one, another) => {
    const stored = createPlants(60);
    for (const [index, candidate] of stored.entries()) await addAll(index % 3 === 0 ? another : one, [candidate]);
    await assertContent(one, stored);
    await assertContent(another, stored);
  }),

  sharedCase('reads every earlier plant once while another repository adds plants', async (one, another) => {
    const before = createPlants(2500).map(({ id, name }) => plant(id * 2n, name));
    await addAll(one, before);
    const read: Plant[] = [];
    for await (const batch of one.readAll()) {
      read.push(...assertBatch(batch));
      if (read.length > before.length * 2) throw new ContractViolation('readAll returned more plants than are stored');
      await another.add([-1n, 1n, 3001n].map((id) => plant(id, 'meanwhile')));
    }
    const earlier = new Map(read.filter(({ id }) => id % 2n === 0n).map((each) => [each.id, each]));
    if (new Set(read.map(({ id }) => id)).size < read.length) throw new ContractViolation('readAll repeated a plant');
    if (earlier.size < before.length) throw new ContractViolation('readAll lost a plant that was added before');
  }),

  sharedCase('keeps working after another repository is closed', async (one, another) => {
    await addAll(one, [plant(1n, 'Monstera')]);
    await another.close();
    await one.ready();
    await addAll(one, [plant(2n, 'Ficus')]);
    await assertHolders(one, [plant(1n, 'Monstera')]);
    await assertContent(one, [plant(1n, 'Monstera'), plant(2n, 'Ficus')]);
  }),

  sharedCase('another repository can be opened, used and closed repeatedly', async (one, _, harness) => {
    const stored = createPlants(10);
    for (const [index, candidate] of stored.entries())
      await useRepository(harness, 'openAnother', async (another) => {
        await addAll(another, [candidate]);
        await assertContent(one, stored.slice(0, index + 1));
      });
  }),
];

function sharedCase(
  name: string,
  check: (one: PlantRepository, another: PlantRepository, harness: SharedPlantRepositoryHarness) => Promise<void>,
): ContractCase<SharedPlantRepositoryHarness> {
  return contractCase(name, (harness) =>
    useRepository(harness, 'open', (one) =>
      useRepository(harness, 'openAnother', async (another) => {
        if (one === another)
          throw new InvalidHarness('openAnother() must open another repository, but it returned the one of open()');
        await check(one, another, harness);
      }),
    ),
  );
}

async function assertSees(repository: PlantRepository, stored: readonly Plant[]): Promise<void> {
  await assertContent(
    repository,
    stored,
    'plants that one repository added and another reads (if there are none, openAnother() may open other storage)',
  );
}
