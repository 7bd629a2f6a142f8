import { assertEqual, type Cases } from '../contract.js';
import { assertSameOutcomes } from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { PLANTS_WITH_IDS, PLANTS_WITH_TEXTS, plant, RIVALS } from '../sample-plants.js';

/** What `add` stores and returns. */
export const addingCases: Cases<TestStorage> = {
  'stores ids exactly, at both ends of int64 and around 2^53': ({ repository }) =>
    repository.assertStored(PLANTS_WITH_IDS),

  'stores strings code point for code point, and an absent tag as absent': ({ repository }) =>
    repository.assertStored(PLANTS_WITH_TEXTS),

  'never changes a stored plant, and returns it as stored for similar ones': async ({ repository }) => {
    await repository.addAll(PLANTS_WITH_TEXTS);
    const [stored, rivals] = [RIVALS.map(([stored]) => stored), RIVALS.map(([, rival]) => rival)];
    await repository.assertOutcomes(rivals, stored);
    await repository.assertContent(PLANTS_WITH_TEXTS);
  },

  'adds the first of several plants with the same id in a batch': async ({ repository }) => {
    const [firsts, rivals] = [PLANTS_WITH_TEXTS, RIVALS.map(([, rival]) => rival)];
    const expected = [...firsts.map(() => 'added' as const), ...RIVALS.map(([stored]) => stored), ...firsts];
    await repository.assertOutcomes([...firsts, ...rivals, ...firsts], expected);
    await repository.assertContent(firsts);
  },

  'returns an outcome per plant in their order, and does not modify it later': async ({ repository }) => {
    const [one, two, three, four] = [plant(1n, 'one'), plant(2n, 'two'), plant(3n, 'three', 'tag'), plant(4n, 'four')];
    await repository.addAll([one, three]);
    const outcomes = await repository.add([four, ...[3n, 4n, 1n, 3n].map((id) => plant(id, 'other')), two]);
    await repository.assertOutcomes([plant(4n, 'other'), plant(5n, 'five')], [four, 'added']);
    // The outcomes of the first call, after another call.
    assertSameOutcomes(outcomes, ['added', three, four, one, three, 'added']);
    await repository.assertContent([one, two, three, four, plant(5n, 'five')]);
    await repository.assertFound([one, two, three, four, plant(5n, 'five')]);
  },

  'adds the plants that the array held when add was called, and does not modify it': async ({ repository }) => {
    const batch = [3n, 1n, 2n, 1n].map((id) => plant(id, 'Monstera'));
    const given = [...batch];
    await repository.add(batch);
    assertEqual(batch, given, 'the array after add');
    await repository.addAll(Object.freeze([plant(6n, 'Aloe'), plant(5n, 'Aloe')]));
    batch[0] = plant(7n, 'held');
    const adding = repository.add(batch);
    batch[0] = plant(8n, 'changed later');
    batch.push(plant(9n, 'added later'));
    assertSameOutcomes(await adding, ['added', ...given.slice(1, 3), ...given.slice(1, 2)]);
    await repository.assertHolders([plant(7n, 'held')]);
  },
};
