import type { OpenPlantRepository, Plant } from '@plant-store/core';
import { runDuring, settlesWithin } from './contract.js';
import { TestRepository } from './repository-checks.js';

/** Gives the cases access to an adapter. */
export interface PlantRepositoryHarness {
  /** Opens a repository on new, empty storage. The case closes it. */
  open(): Promise<OpenPlantRepository>;
  /**
   * For plants that survive a restart: reopens the storage that `open` or `reopen` opened last, in its current state. The
   * previous repository may still be open, as after a crash; if the storage can be open only once, open a copy. The case
   * closes both.
   */
  reopen?(): Promise<OpenPlantRepository>;
  /**
   * For storage that several processes can open: opens the storage of the last `open` once more, while the other
   * repositories have it open, with its own connection or file handle. The case closes it.
   */
  openAnother?(): Promise<OpenPlantRepository>;
  /**
   * Makes the storage of the last `open` unavailable, at least for `add`, runs `work`, and restores the storage. May wait
   * until the repository is connected again; otherwise the cases wait up to ten seconds. Rejects if `work` rejects.
   */
  whileUnavailable?(work: () => Promise<unknown>): Promise<unknown>;
  /** Returns a plant that the storage rejects: for example, one that is too long for it, or that a constraint excludes. */
  rejectedPlant?(): Plant;
}

/** What a case gets: a harness that closes its repositories before `open` and after the case, and the first of them. */
export type TestStorage = Readonly<Record<'open' | 'reopen' | 'openAnother', () => Promise<TestRepository>>> &
  Required<Pick<PlantRepositoryHarness, 'whileUnavailable' | 'rejectedPlant'>> & {
    readonly repository: TestRepository;
  };

/** Opens a repository, runs a case with it, and closes what the case has opened. */
export async function useStorage(
  harness: PlantRepositoryHarness,
  check: (storage: TestStorage) => Promise<unknown>,
): Promise<void> {
  const opened: OpenPlantRepository[] = [];
  const closeAll = async () => {
    for (const repository of opened.splice(0)) await repository.close();
  };
  const track = async (opening: Promise<OpenPlantRepository> | undefined) => {
    const repository = new TestRepository(present(await opening));
    opened.push(repository);
    return repository;
  };
  const open = async () => {
    await closeAll();
    return track(harness.open());
  };
  try {
    await check({
      repository: await open(),
      open,
      reopen: () => track(harness.reopen?.()),
      openAnother: () => track(harness.openAnother?.()),
      whileUnavailable: (work) => runDuring(harness, 'whileUnavailable', work),
      rejectedPlant: () => present(harness.rejectedPlant?.()),
    });
  } catch (error) {
    // The first failure is the one to report.
    await settlesWithin(1000, closeAll()).catch(() => {});
    throw error;
  }
  await closeAll();
}

function present<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new TypeError('a function of the harness returned nothing');
  return value;
}
