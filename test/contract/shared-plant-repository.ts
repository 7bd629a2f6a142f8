import type { Plant } from '../../core/index.js';
import { contractCase, type HarnessCase, InvalidHarness } from './contract.js';
import {
  addAll,
  addConcurrently,
  assertContent,
  assertHolders,
  assertReadsDuringAdds,
  type HarnessWith,
  type OpenPlantRepository,
  useRepository,
} from './repository-checks.js';
import { createPlants, plant } from './sample-plants.js';

/** Number of ids for which two repositories compete. */
const RACES = 50;

/** Cases for repositories whose storage several processes can open. */
export const sharedCases: readonly HarnessCase<HarnessWith<'openAnother'>>[] = [
  sharedCase('reads what another repository added, and returns it as holder', async (one, another) => {
    const stored = createPlants(20);
    for (const [index, candidate] of stored.entries()) {
      const [writer, reader] = index % 3 === 0 ? [another, one] : [one, another];
      await addAll(writer, [candidate]);
      await assertContent(
        reader,
        stored.slice(0, index + 1),
        'plants that one repository added and another reads (if there are none, openAnother() may open other storage)',
      );
      await assertHolders(reader, [candidate]);
    }
  }),

  sharedCase('adds each id once for concurrent calls of two repositories', async (one, another) => {
    const races = createPlants(RACES).map(({ id }) => [
      [one, [plant(id, 'of one', 'tag')]] as const,
      [another, [plant(id, 'of another')]] as const,
    ]);
    const winners: Plant[] = [];
    for (const race of races.slice(0, RACES / 2)) winners.push(...(await addConcurrently(race)));
    winners.push(...(await addConcurrently(races.slice(RACES / 2).flatMap((race) => race.reverse()))));
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

  sharedCase('reads every earlier plant once while another repository adds plants', assertReadsDuringAdds),

  sharedCase('keeps working while others are opened, used and closed', async (one, _, harness) => {
    const stored = createPlants(10);
    for (const [index, candidate] of stored.entries()) {
      await useRepository(harness, 'openAnother', (another) => addAll(another, [candidate]));
      await one.ready();
      await addAll(one, [plant(BigInt(-1 - index), 'of one')]);
    }
    await assertHolders(one, [plant(-1n, 'of one')]);
  }),
];

function sharedCase(
  name: string,
  check: (one: OpenPlantRepository, another: OpenPlantRepository, harness: HarnessWith<'openAnother'>) => Promise<void>,
): HarnessCase<HarnessWith<'openAnother'>> {
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
