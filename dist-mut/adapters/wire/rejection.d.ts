import type { CreatePlantOutcome } from '../../core/index.js';
/** The Error object of the interface (specification, "Error"). */
export interface Rejection {
    /** The status × 100 + an ordinal; part of the interface, never renumbered. */
    readonly error: number;
    /** One sentence for a person. It never holds a stack, SQL, a path, a token or a driver's text. */
    readonly message: string;
}
/** Every error number of the interface, with the sentence that stands where there is nothing more exact to say. */
export declare const rejections: {
    readonly malformedHttp: {
        readonly error: 40000;
        readonly message: 'The request is not well-formed HTTP/1.1';
    };
    readonly notJson: {
        readonly error: 40001;
        readonly message: 'The body must be one JSON text in UTF-8';
    };
    readonly notANewPlant: {
        readonly error: 40002;
        readonly message: 'The body must be a NewPlant';
    };
    readonly unfaithfulText: {
        readonly error: 40003;
        readonly message: 'A text must not contain U+0000 or a lone surrogate';
    };
    readonly noCredential: {
        readonly error: 40101;
        readonly message: 'Send the credential in the header Authorization: Bearer <token>';
    };
    readonly invalidToken: {
        readonly error: 40102;
        readonly message: 'The token is not valid';
    };
    readonly noSuchPath: {
        readonly error: 40401;
        readonly message: 'There is nothing at this path';
    };
    readonly methodNotAllowed: {
        readonly error: 40501;
        readonly message: 'The method is not allowed here; the header Allow names those that are';
    };
    readonly requestTimeout: {
        readonly error: 40801;
        readonly message: 'The request did not arrive in time';
    };
    readonly idTaken: {
        readonly error: 40901;
        readonly message: 'id is taken by a plant that differs in name or tag';
    };
    readonly alreadyStored: {
        readonly error: 40902;
        readonly message: 'The very same plant is already stored, so there is nothing left to do';
    };
    readonly bodyTooLarge: {
        readonly error: 41301;
        readonly message: 'The body is too large';
    };
    readonly unsupportedMediaType: {
        readonly error: 41501;
        readonly message: 'Content-Type must be application/json, with no charset but utf-8';
    };
    readonly unknownExpectation: {
        readonly error: 41701;
        readonly message: 'Expect must be 100-continue or left out';
    };
    readonly headersTooLarge: {
        readonly error: 43101;
        readonly message: 'The headers of the request are too large';
    };
    readonly defect: {
        readonly error: 50001;
        readonly message: 'The service failed; the log has the details under the id in X-Request-Id';
    };
    readonly plantRefused: {
        readonly error: 50002;
        readonly message: 'The storage refuses this plant';
    };
    readonly storageUnavailable: {
        readonly error: 50301;
        readonly message: 'The storage does not answer; whether the plant was stored is open, so send it again later';
    };
    readonly overloaded: {
        readonly error: 50302;
        readonly message: 'Too much work is waiting; send the plant again later';
    };
    readonly stopping: {
        readonly error: 50303;
        readonly message: 'The service is stopping; send the plant again later';
    };
    readonly issuerUnavailable: {
        readonly error: 50304;
        readonly message: 'The token cannot be checked now; send the plant again later';
    };
};
/** The HTTP status that belongs to a rejection. */
export declare function statusOf(rejection: Rejection): number;
/** What a client is told of an outcome; `undefined` where its plant was created. */
export declare function rejectionOf(outcome: CreatePlantOutcome): Rejection | undefined;
//# sourceMappingURL=rejection.d.ts.map