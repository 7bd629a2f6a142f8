import { type PlantRepository } from '../../core/index.js';
import { type ContractCase } from './contract.js';
/** What the cases need of an adapter. */
export interface PlantRepositoryHarness {
    /** Opens a repository on a new storage without any plant. The case closes it. */
    open(): Promise<PlantRepository>;
}
/** What the cases need of an adapter whose plants outlive it. */
export interface DurablePlantRepositoryHarness extends PlantRepositoryHarness {
    /**
     * Opens the storage of the last `open` or `reopen` again, as it is at this moment. The repository that was opened
     * before may still be open, as if its process had been killed; where only one may have the storage open, open a copy.
     * The case closes both.
     */
    reopen(): Promise<PlantRepository>;
}
/** What the cases need of an adapter whose storage can go away while it is open. */
export interface PlantRepositoryOutageHarness extends PlantRepositoryHarness {
    /**
     * Takes the storage of the last `open` away from those who add plants at least, does `work`, and brings it back.
     * Rejects as `work` does.
     */
    withStorageAway(work: () => Promise<void>): Promise<void>;
}
/** What every plant repository promises. */
export declare const plantRepositoryContract: readonly ContractCase<PlantRepositoryHarness>[];
/** What a plant repository promises, where its plants outlive it. */
export declare const durablePlantRepositoryContract: readonly ContractCase<DurablePlantRepositoryHarness>[];
/** What a plant repository promises besides, where its storage can go away. */
export declare const plantRepositoryOutageContract: readonly ContractCase<PlantRepositoryOutageHarness>[];
//# sourceMappingURL=plant-repository.d.ts.map