import type { RawAnswer } from '../../support/raw-http.js';
/** The description itself, not what the build makes of it. */
export declare const DESCRIPTION_FILE: string;
interface DeclaredHeader {
    readonly $ref?: string;
    readonly required?: boolean;
    readonly schema?: object;
}
/** One declared answer, as far as the tests read it. */
export interface DeclaredResponse {
    readonly description: string;
    readonly headers?: Readonly<Record<string, DeclaredHeader>>;
    readonly content: Readonly<Record<string, {
        readonly schema: object;
    }>>;
}
interface Operation {
    readonly responses: Readonly<Record<string, DeclaredResponse>>;
}
interface Description {
    readonly [member: string]: unknown;
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
    readonly components: {
        readonly headers: Readonly<Record<string, DeclaredHeader>>;
    };
}
/** `docs/openapi.yaml`. */
export declare const description: Description;
/** The answers that are declared for `POST /plants`, by status. */
export declare const declaredResponses: Readonly<Record<string, DeclaredResponse>>;
/** The error numbers that the description of an answer names. */
export declare function errorsOf({ description }: DeclaredResponse): number[];
/** What about an answer to `POST /plants` is not as the description declares it; nothing where all is. */
export declare function undeclared(answer: RawAnswer): string[];
export {};
//# sourceMappingURL=description.d.ts.map