import { Plant, PlantRejected, type PlantRepository } from '../../core/index.js';
import { type ContractCase, ContractViolation, contractCase, InvalidHarness } from './contract.js';
import {
  addAll,
  assertConfidential,
  assertContent,
  assertOutcomes,
  type OutcomeTuple,
  type PlantRepositoryHarness,
  useRepository,
} from './repository-checks.js';
import { createPlants } from './sample-plants.js';

/** Gives the cases access to an adapter whose storage rejects some plants. */
export interface RejectingPlantRepositoryHarness extends PlantRepositoryHarness {
  /** A plant that the storage rejects: for example, one that is too long for it, or that a constraint excludes. */
  readonly rejectedPlant: Plant;
}

/** Additional contract of repositories whose storage rejects some plants. */
export const rejectingPlantRepositoryContract: readonly ContractCase<RejectingPlantRepositoryHarness>[] = [
  rejectingCase('returns rejected with a PlantRejected for a rejected plant', async (repository, rejected) => {
    const [outcome] = await repository.add([rejected]).catch((error: unknown) => {
      throw new ContractViolation(`add must return the outcome rejected, but it threw ${error}`);
    });
    if (outcome?.kind === 'added') await throwForAdded(repository, rejected);
    if (outcome?.kind !== 'rejected') throw new ContractViolation(`expected rejected, got ${outcome?.kind}`);
    if (!(outcome.error instanceof PlantRejected))
      throw new ContractViolation(`the error of a rejected plant must be a PlantRejected, got ${outcome.error}`);
  }),

  rejectingCase('the error of a rejected plant reveals no value of it', async (repository, rejected) => {
    const [outcome] = await repository.add([rejected]);
    if (outcome?.kind === 'rejected') assertConfidential(outcome.error, rejected);
  }),

  rejectingCase('adds the other plants of a batch with a rejected plant', async (repository, rejected, others) => {
    for (const position of [0, 1, 2]) {
      const added = others.slice(2 * position, 2 * position + 2);
      const batch: Plant[] = added.toSpliced(position, 0, rejected);
      await assertOutcomes(repository, batch, expectedOutcomes(batch, rejected));
      await assertContent(repository, others.slice(0, 2 * position + 2));
    }
  }),

  rejectingCase('adds the rest of a large batch with a rejected plant', async (repository, rejected, others) => {
    for (const [index, position] of [0, 250, 499].entries()) {
      const first = 499 * index;
      const batch = others.slice(first, first + 499).toSpliced(position, 0, rejected);
      await assertOutcomes(repository, batch, expectedOutcomes(batch, rejected));
    }
    await assertContent(repository, others.slice(0, 3 * 499));
  }),

  rejectingCase('returns the holders of a batch with a rejected plant', async (repository, rejected, others) => {
    const [holder, free] = others;
    if (holder === undefined || free === undefined) return;
    await addAll(repository, [holder]);
    await assertOutcomes(
      repository,
      [holder, rejected, free, free],
      [['taken', holder], ['rejected'], ['added'], ['taken', free]],
    );
    await assertContent(repository, [holder, free]);
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
  check: (repository: PlantRepository, rejected: Plant, others: readonly Plant[]) => Promise<void>,
): ContractCase<RejectingPlantRepositoryHarness> {
  return contractCase(name, (harness) =>
    useRepository(harness, 'open', async (repository) => {
      const { rejectedPlant } = harness;
      try {
        Plant.assertAll([rejectedPlant]);
      } catch {
        throw new InvalidHarness('rejectedPlant must be a plant created by Plant.from');
      }
      const others = createPlants(2000, 1n).filter(({ id }) => id !== rejectedPlant.id);
      await check(repository, rejectedPlant, others);
    }),
  );
}

function expectedOutcomes(batch: readonly Plant[], rejected: Plant): OutcomeTuple[] {
  return batch.map((candidate) => (candidate === rejected ? ['rejected'] : ['added']));
}

/** Throws InvalidHarness if the rejected plant was stored, otherwise ContractViolation. */
async function throwForAdded(repository: PlantRepository, rejected: Plant): Promise<never> {
  for await (const batch of repository.readAll())
    if (batch.some((stored) => rejected.equals(stored)))
      throw new InvalidHarness('rejectedPlant must be a plant that the storage rejects, but it was stored');
  throw new ContractViolation('add returned added for a plant that was not stored, or not exactly');
}
