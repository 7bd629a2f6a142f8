import { Plant } from '../../core/index.js';
import { type Cases, ContractViolation, describe } from './contract.js';
import { addAll, assertConfidential, assertContent, assertOutcomes, type Expected } from './repository-checks.js';
import type { TestStorage } from './repository-harness.js';
import { createPlants } from './sample-plants.js';

/** Cases for repositories whose storage rejects some plants. */
export const rejectingCases: Cases<TestStorage> = {
  'returns rejected with an Error that reveals no value of the plant': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const [outcome] = await repository.add([rejected]).catch((error: unknown) => {
      throw new ContractViolation(`add must return the outcome rejected, but it threw ${error}`);
    });
    if (outcome?.kind !== 'rejected')
      throw new ContractViolation(
        `expected rejected, got ${describe(outcome)} (if the storage stores the plant, rejectedPlant() must return another)`,
      );
    if (!(outcome.error instanceof Error))
      throw new ContractViolation(`the error of a rejected plant must be an Error, got ${describe(outcome.error)}`);
    assertConfidential(outcome.error, rejected);
  },

  'adds or finds the other plants of a batch': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    for (const [index, position] of [0, 1, 250, 499].entries()) {
      const batch = createOthers(rejected, 499, 500 * index);
      const holder = batch.slice(0, 1);
      await addAll(repository, holder);
      const expected: Expected[] = [...holder, ...batch.slice(1).map(() => 'added' as const)];
      await assertOutcomes(
        repository,
        batch.toSpliced(position, 0, rejected),
        expected.toSpliced(position, 0, 'rejected'),
      );
    }
  },

  'adds the plants of concurrent calls': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    const added = createOthers(rejected, 30);
    const calls = added.flatMap((each, index) => (index % 10 === 0 ? [rejected, each] : [each]));
    await Promise.all(
      calls.map((each) => assertOutcomes(repository, [each], [each === rejected ? 'rejected' : 'added'])),
    );
    await assertContent(repository, added);
  },

  'rejects a plant each time, stays ready, and does not keep its id': async ({ repository, rejectedPlant }) => {
    const rejected = rejectedPlant();
    for (let turn = 0; turn < 3; turn++)
      await assertOutcomes(repository, [rejected, rejected], ['rejected', 'rejected']);
    await repository.ready();
    const others = createOthers(rejected, 2);
    await addAll(repository, others);
    await assertContent(repository, others);
    const result = Plant.from({ id: rejected.id, name: 'Aloe' });
    const [outcome] = result.kind === 'valid' ? await repository.add([result.plant]) : [];
    // The storage may reject the id.
    if (outcome?.kind === 'taken') throw new ContractViolation('a rejected plant holds its id');
  },
};

/** Creates plants that do not have the id of the rejected one. */
function createOthers(rejected: Plant, count: number, firstId = 0): Plant[] {
  return createPlants(count + 1, BigInt(firstId))
    .filter(({ id }) => id !== rejected.id)
    .slice(0, count);
}
