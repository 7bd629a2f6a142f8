/** Adapters that are each wrong in one way, written beside the cases: faults that only reopening or an outage shows. */
import { type AddOutcome, Plant, type PlantRepository, type TokenVerifier } from '../../core/index.js';
/** What outlives a repository, and can go away. */
export interface Disk {
    readonly plants: Map<bigint, Plant>;
    isAway: boolean;
}
/** Who knows the tokens, and can go away. */
export interface Issuer {
    readonly validToken: string;
    isAway: boolean;
}
/** The right one. */
export declare class DiskRepository implements PlantRepository {
    protected readonly disk: Disk;
    protected closed: boolean;
    constructor(disk: Disk);
    add(plants: readonly Plant[]): Promise<readonly AddOutcome[]>;
    protected addOne(plant: Plant): AddOutcome;
    readAll(): AsyncGenerator<readonly Plant[]>;
    protected sorted(): Plant[];
    ready(): Promise<void>;
    close(): Promise<void>;
    protected assertThere(): void;
}
/** Each with the case that must catch it. */
export declare const brokenOnDisk: readonly {
    readonly fault: string;
    readonly caughtBy: string;
    open(disk: Disk): PlantRepository;
}[];
/** The right one. */
export declare class AskingVerifier implements TokenVerifier {
    #private;
    constructor(issuer: Issuer);
    verify(token: string): Promise<{
        subject: string;
    } | undefined>;
}
/** Each with the case that must catch it. */
export declare const brokenWithIssuer: readonly {
    readonly fault: string;
    readonly caughtBy: string;
    create(issuer: Issuer): TokenVerifier;
}[];
//# sourceMappingURL=broken-by-cases.d.ts.map