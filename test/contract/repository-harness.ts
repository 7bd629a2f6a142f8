import type { Plant, PlantStorage } from '../../core/index.js';
import { InvalidHarness, runDuring, settlesWithin } from './contract.js';
import { isPlant } from './repository-checks.js';

/** Gives the cases access to an adapter. */
export interface PlantRepositoryHarness {
  /** Opens a repository on new, empty storage. The case closes it. */
  open(): Promise<PlantStorage>;
  /**
   * For plants that survive a restart: reopens the storage that `open` or `reopen` opened last, in its current state. The
   * previous repository may still be open, as after a crash; if the storage can be open only once, open a copy. The case
   * closes both.
   */
  reopen?(): Promise<PlantStorage>;
  /**
   * For storage that several processes can open: opens the storage of the last `open` once more, while the other
   * repositories have it open, with its own connection or file handle. The case closes it.
   */
  openAnother?(): Promise<PlantStorage>;
  /**
   * Makes the storage of the last `open` unavailable, at least for `add`, runs `work`, and restores the storage. May wait
   * until the repository is connected again; otherwise the cases wait up to ten seconds. Rejects if `work` rejects.
   */
  whileUnavailable?(work: () => Promise<void>): Promise<void>;
  /** Returns a plant that the storage rejects: for example, one that is too long for it, or that a constraint excludes. */
  rejectedPlant?(): Plant;
}

/** What a case gets. It may close the repositories that it opens; they are closed afterwards. */
export interface TestStorage {
  /** The first repository, on new, empty storage. */
  readonly repository: PlantStorage;
  open(): Promise<PlantStorage>;
  reopen(): Promise<PlantStorage>;
  openAnother(): Promise<PlantStorage>;
  whileUnavailable(work: () => Promise<unknown>): Promise<void>;
  rejectedPlant(): Plant;
}

/** Maximum time to close a repository after its case has failed, in milliseconds. */
const CLOSE_AFTER_FAILURE_MS = 1000;

/** Opens a repository, runs a case with it, and closes what the case has opened. */
export async function useStorage(
  harness: PlantRepositoryHarness,
  check: (storage: TestStorage) => Promise<void>,
): Promise<void> {
  const opened: PlantStorage[] = [];
  const openWith = async (name: 'open' | 'reopen' | 'openAnother') => {
    const repository = await harness[name]?.();
    const missing = (['add', 'readAll', 'ready', 'close'] as const).find((method) => !repository?.[method]);
    if (repository === undefined || missing)
      throw new InvalidHarness(`${name}() must resolve to a PlantStorage, but it has no ${missing}()`);
    if (opened.includes(repository)) throw new InvalidHarness(`${name}() must open a new repository each time`);
    opened.push(repository);
    return repository;
  };
  try {
    await check({
      repository: await openWith('open'),
      open: () => openWith('open'),
      reopen: () => openWith('reopen'),
      openAnother: () => openWith('openAnother'),
      whileUnavailable: (work) => runDuring(harness, 'whileUnavailable', work),
      rejectedPlant: () => {
        const rejected = harness.rejectedPlant?.();
        if (rejected !== undefined && isPlant(rejected)) return rejected;
        throw new InvalidHarness('rejectedPlant() must return a plant created by Plant.from');
      },
    });
  } catch (error) {
    // The first failure is the one to report.
    await settlesWithin(
      CLOSE_AFTER_FAILURE_MS,
      Promise.allSettled(opened.map(async (repository) => repository.close())),
    );
    throw error;
  }
  for (const repository of opened.reverse()) await repository.close();
}
