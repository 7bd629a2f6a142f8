import { type PlantRepository, type TokenVerifier } from '../../core/index.js';
/** Repositories, each with the one promise of the port that it breaks. */
export declare const brokenRepositories: readonly {
    readonly fault: string;
    create(): PlantRepository;
}[];
/** Verifiers that take `validToken` for valid, each with the one promise of the port that it breaks. */
export declare const brokenVerifiers: readonly {
    readonly fault: string;
    create(validToken: string): TokenVerifier;
}[];
//# sourceMappingURL=broken-by-documentation.d.ts.map