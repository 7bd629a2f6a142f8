import type { Plant } from '@plant-store/core';
import { type Cases, ContractViolation, describe } from '../contract.js';
import { assertConfidential, type Expected, toOther } from '../repository-checks.js';
import type { TestStorage } from '../repository-harness.js';
import { createPlants, plant } from '../sample-plants.js';

/** Creates plants with ids from `first`, of which none is that of the rejected plant. */
const createOthers = (rejected: Plant, count: number, first = 0): Plant[] =>
  createPlants(count, BigInt(first)).map((each) => (each.id === rejected.id ? plant(-1n, each.name) : each));

/** Storage that rejects some plants. */
export const rejectingCases: Cases<TestStorage> = {
  'returns rejected with an Error that reveals no value of the plant': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const [outcome] = await repository.add([rejected]).catch((error: unknown) => {
      throw new ContractViolation(`add must return the outcome rejected, but it threw ${error}`);
    });
    if (outcome?.kind !== 'rejected')
      throw new ContractViolation(
        `expected rejected, got ${describe(outcome)} (can the storage store rejectedPlant()?)`,
      );
    if (!(outcome.error instanceof Error))
      throw new ContractViolation(`the error of a rejected plant must be an Error, got ${describe(outcome.error)}`);
    assertConfidential(outcome.error, rejected);
  },

  'adds or finds the other plants of a batch': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    for (const [index, position] of [0, 1, 250, 499].entries()) {
      const others = createOthers(rejected, 499, 500 * index);
      await repository.addAll(others.slice(0, 1));
      const expected = others.map((other, at): Expected => (at === 0 ? other : 'added'));
      const batch = others.toSpliced(position, 0, rejected);
      await repository.assertOutcomes(batch, expected.toSpliced(position, 0, 'rejected'));
      await repository.assertFound(others);
    }
  },

  'adds another plant with the id of a rejected one in the same batch': async ({ repository, open, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const [other, later] = [toOther(rejected), plant(rejected.id, 'later')];
    // The storage may reject any plant with the id.
    const isFree = (await repository.add([other]))[0]?.kind === 'added';
    const expected: Expected[] = isFree ? ['added', other] : ['rejected', 'rejected'];
    const another = createOthers(rejected, 1);
    const batch = [rejected, rejected, ...another, other, later];
    const empty = await open();
    await empty.assertOutcomes(batch, ['rejected', 'rejected', 'added', ...expected]);
    await empty.assertContent(isFree ? [...another, other] : another);
  },

  'adds the plants of concurrent calls': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const added = createOthers(rejected, 30);
    const calls = added.flatMap((each, index) => (index % 10 === 0 ? [rejected, each] : [each]));
    await Promise.all(
      calls.map((each) => repository.assertOutcomes([each], [each === rejected ? 'rejected' : 'added'])),
    );
    await repository.assertContent(added);
  },

  'rejects a plant each time, stays ready, and does not keep its id': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    // More than most pools have connections.
    for (let turn = 0; turn < 30; turn++)
      await repository.assertOutcomes([rejected, rejected], ['rejected', 'rejected']);
    await repository.ready();
    await repository.assertFound([], [rejected.id]);
    const others = createOthers(rejected, 2);
    await repository.addAll(others);
    await repository.assertContent(others);
    // The storage may reject the id.
    const [outcome] = await repository.add([plant(rejected.id, 'Aloe')]);
    if (outcome?.kind === 'conflict') throw new ContractViolation('a rejected plant has its id');
  },
};
