import { type ServerResponse } from 'node:http';
import { type CryptoKey } from 'jose';
/** A key pair of an issuer. */
export interface Key {
    readonly kid: string;
    readonly algorithm: string;
    readonly publicKey: CryptoKey;
    readonly privateKey: CryptoKey;
}
/** A new key pair with an id that no other one has. */
export declare function newKey(algorithm?: string): Promise<Key>;
export declare const ISSUER = "https://issuer.example/garden";
export declare const AUDIENCE = "plant-store";
/** Seconds since 1970, as JWTs have them. */
export declare function now(): number;
/** What a JWT claims; tests put wrong types into it, too. */
export interface Claims {
    readonly [claim: string]: unknown;
}
/** The claims of a token that is valid for five minutes, with others in their place; `undefined` leaves one out. */
export declare function claims(others?: Claims): Claims;
/** A JWT of `payload`, signed with `key`; `header` has parameters in the place of its own. */
export declare function sign(key: Key, payload?: Claims, header?: Readonly<Record<string, unknown>>): Promise<string>;
/** Something as a part of a JWT. */
export declare function part(content: object): string;
/** An HTTP server that publishes keys, on loopback. */
export declare class Issuer {
    #private;
    /** How often it was asked for its keys. */
    requests: number;
    private constructor();
    static start(...keys: readonly Key[]): Promise<Issuer>;
    get jwksUrl(): URL;
    /** Publishes these keys and no others. */
    publish(...keys: readonly Key[]): Promise<void>;
    /** Answers like this until it is {@link back}. */
    answerWith(answer: (response: ServerResponse) => void): void;
    /** Refuses every connection until it is {@link back}. */
    away(): Promise<void>;
    /** Answers with its keys again. */
    back(): Promise<void>;
}
//# sourceMappingURL=issuer.d.ts.map