import { isPlantStoreError, Plant } from '../../core/index.js';
import { assertFunction, ContractViolation, contractCase, type HarnessCase, InvalidHarness } from './contract.js';
import {
  addAll,
  assertConfidential,
  assertContent,
  assertOutcomes,
  type HarnessWith,
  isPlant,
  type OpenPlantRepository,
  type OutcomeTuple,
  useRepository,
} from './repository-checks.js';
import { createPlants } from './sample-plants.js';

/** Cases for repositories whose storage rejects some plants. */
export const rejectingCases: readonly HarnessCase<HarnessWith<'rejectedPlant'>>[] = [
  rejectingCase(
    'returns rejected with a PlantRejected that reveals no value of the plant',
    async (repository, rejected) => {
      const [outcome] = await repository.add([rejected]).catch((error: unknown) => {
        throw new ContractViolation(`add must return the outcome rejected, but it threw ${error}`);
      });
      if (outcome?.kind === 'added') await throwForAdded(repository, rejected);
      if (outcome?.kind !== 'rejected') throw new ContractViolation(`expected rejected, got ${outcome?.kind}`);
      if (!(outcome.error instanceof Error) || isPlantStoreError(outcome.error))
        throw new ContractViolation(`the error of a rejected plant must be a PlantRejected, got ${outcome.error}`);
      assertConfidential(outcome.error, rejected);
    },
  ),

  rejectingCase(
    'adds or finds the other plants of a batch with a rejected plant',
    async (repository, rejected, others) => {
      for (const position of [0, 1, 2]) {
        const [holder, free] = others.slice(2 * position, 2 * position + 2);
        if (holder === undefined || free === undefined) return;
        await addAll(repository, [holder]);
        const batch = [holder, free, free].toSpliced(position, 0, rejected);
        const expected: OutcomeTuple[] = [['taken', holder], ['added'], ['taken', free]];
        await assertOutcomes(repository, batch, expected.toSpliced(position, 0, ['rejected']));
        await assertContent(repository, others.slice(0, 2 * position + 2));
      }
    },
  ),

  rejectingCase('adds the rest of a large batch with a rejected plant', async (repository, rejected, others) => {
    for (const [index, position] of [0, 250, 499].entries()) {
      const first = 499 * index;
      const batch = others.slice(first, first + 499).toSpliced(position, 0, rejected);
      await assertOutcomes(repository, batch, expectedOutcomes(batch, rejected));
    }
    await assertContent(repository, others.slice(0, 3 * 499));
  }),

  rejectingCase('adds the plants of concurrent calls', async (repository, rejected, others) => {
    const added = others.slice(0, 30);
    const calls = added.flatMap((candidate, index) => (index % 10 === 0 ? [rejected, candidate] : [candidate]));
    await Promise.all(calls.map((call) => assertOutcomes(repository, [call], expectedOutcomes([call], rejected))));
    await assertContent(repository, added);
  }),

  rejectingCase('rejects a plant each time, and stays ready', async (repository, rejected, others) => {
    for (let turn = 0; turn < 3; turn++) await assertOutcomes(repository, [rejected], [['rejected']]);
    await assertOutcomes(repository, [rejected, rejected], [['rejected'], ['rejected']]);
    await repository.ready();
    await addAll(repository, others.slice(0, 2));
    await assertContent(repository, others.slice(0, 2));
  }),

  rejectingCase('a rejected plant does not hold its id', async (repository, rejected) => {
    await repository.add([rejected]);
    const result = Plant.from({ id: rejected.id, name: 'Aloe' });
    if (result.kind === 'invalid') return;
    const [outcome] = await repository.add([result.plant]);
    // The storage may reject the id.
    if (outcome?.kind === 'taken') throw new ContractViolation('a rejected plant holds its id');
    await assertContent(repository, outcome?.kind === 'added' ? [result.plant] : []);
  }),
];

function rejectingCase(
  name: string,
  check: (repository: OpenPlantRepository, rejected: Plant, others: readonly Plant[]) => Promise<void>,
): HarnessCase<HarnessWith<'rejectedPlant'>> {
  return contractCase(name, (harness) =>
    useRepository(harness, 'open', async (repository) => {
      assertFunction(harness, 'rejectedPlant');
      const rejectedPlant = harness.rejectedPlant();
      if (!isPlant(rejectedPlant))
        throw new InvalidHarness('rejectedPlant() must return a plant created by Plant.from');
      const others = createPlants(2000, 1n).filter(({ id }) => id !== rejectedPlant.id);
      await check(repository, rejectedPlant, others);
    }),
  );
}

function expectedOutcomes(batch: readonly Plant[], rejected: Plant): OutcomeTuple[] {
  return batch.map((candidate) => (candidate === rejected ? ['rejected'] : ['added']));
}

/** Throws InvalidHarness if the rejected plant was stored, otherwise ContractViolation. */
async function throwForAdded(repository: OpenPlantRepository, rejected: Plant): Promise<never> {
  for await (const batch of repository.readAll())
    if (batch.some((stored) => rejected.equals(stored)))
      throw new InvalidHarness('rejectedPlant() must return a plant that the storage rejects, but it was stored');
  throw new ContractViolation('add returned added for a plant that was not stored, or not exactly');
}
