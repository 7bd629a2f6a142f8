import type { Plant } from '../../core/index.js';
import type { Cases } from './contract.js';
import {
  addAll,
  assertContent,
  assertHolders,
  assertOneWinnerPerId,
  assertReadsDuringAdds,
} from './repository-checks.js';
import type { TestStorage } from './repository-harness.js';
import { createPlants, plant } from './sample-plants.js';

/** Cases for repositories whose storage several processes can open. */
export const sharedCases: Cases<TestStorage> = {
  'reads what another repository added, and returns it as holder': async ({ repository, openAnother }) => {
    const another = await openAnother();
    const stored = createPlants(20);
    for (const [index, candidate] of stored.entries()) {
      const [writer, reader] = index % 3 === 0 ? [another, repository] : [repository, another];
      await addAll(writer, [candidate]);
      const what = 'plants read that another repository added (if none, openAnother() may open other storage)';
      await assertContent(reader, stored.slice(0, index + 1), what);
      await assertHolders(reader, [candidate]);
    }
  },

  'adds each id once for concurrent calls of two repositories': async ({ repository, openAnother }) => {
    const another = await openAnother();
    const races = createPlants(50).map(({ id }) => [
      [repository, [plant(id, 'of one', 'tag')]] as const,
      [another, [plant(id, 'of another')]] as const,
    ]);
    let stored: readonly Plant[] = [];
    for (const race of races.slice(0, 25)) stored = await assertOneWinnerPerId(race, stored);
    await assertOneWinnerPerId(
      races.slice(25).flatMap((race) => race.reverse()),
      stored,
    );
  },

  'adds each id once for overlapping batches of two repositories': async ({ repository, openAnother }) => {
    const another = await openAnother();
    const calls = Array.from({ length: 6 }, (_, call) => {
      const batch = createPlants(200).map(({ id }) => plant(id, `of call ${call}`));
      return [call % 2 === 0 ? repository : another, call % 3 === 0 ? batch.reverse() : batch] as const;
    });
    await assertOneWinnerPerId(calls);
  },

  'reads every earlier plant once while another repository adds plants': async ({ repository, openAnother }) =>
    assertReadsDuringAdds(repository, await openAnother()),

  'keeps working while others are opened, used and closed': async ({ repository, openAnother }) => {
    for (const candidate of createPlants(10)) {
      const another = await openAnother();
      await addAll(another, [candidate]);
      await another.close();
      await repository.ready();
      await assertHolders(repository, [candidate]);
    }
    await addAll(repository, [plant(-1n, 'added last')]);
  },
};
