import type { Plant, PlantStorage } from '../../core/index.js';
import { InvalidHarness, runDuring, settlesWithin } from './contract.js';

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
  whileUnavailable?(work: () => Promise<unknown>): Promise<unknown>;
  /** Returns a plant that the storage rejects: for example, one that is too long for it, or that a constraint excludes. */
  rejectedPlant?(): Plant;
}

/** What a case gets: a harness that closes its repositories before `open` and after the case, and the first of them. */
export type TestStorage = Required<PlantRepositoryHarness> & { readonly repository: PlantStorage };

/** Opens a repository, runs a case with it, and closes what the case has opened. */
export async function useStorage(
  harness: PlantRepositoryHarness,
  check: (storage: TestStorage) => Promise<unknown>,
): Promise<void> {
  const opened: PlantStorage[] = [];
  const closeAll = async () => {
    for (const repository of opened.splice(0)) await repository.close();
  };
  const openWith = async (name: 'open' | 'reopen' | 'openAnother') => {
    if (name === 'open') await closeAll();
    const repository = await harness[name]?.();
    if (!repository?.add || !repository.readAll || !repository.ready || !repository.close)
      throw new InvalidHarness(`${name}() must resolve to a repository with add(), readAll(), ready() and close()`);
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
        if (rejected !== undefined) return rejected;
        throw new InvalidHarness('rejectedPlant() must return a plant');
      },
    });
  } catch (error) {
    // The first failure is the one to report.
    await settlesWithin(1000, closeAll()).catch(() => {});
    throw error;
  }
  await closeAll();
}
