import { StorageUnavailable, TokenIssuerUnavailable } from '../../core/index.js';
import { rejections } from '../wire/index.js';
/** How long a client should wait before it tries again, in seconds (RFC 9110 §10.2.3). */
const RETRY_AFTER_SECONDS = new Map([
    [rejections.storageUnavailable.error, 5],
    [rejections.overloaded.error, 1],
    [rejections.stopping.error, 5],
    [rejections.issuerUnavailable.error, 5],
]);
/** Thrown by the parts of this adapter to end a request with an Error object. */
export class Refusal extends Error {
    name = 'Refusal';
    rejection;
    headers;
    constructor(rejection, headers = {}, options) {
        super(rejection.message, options);
        this.rejection = rejection;
        const retryAfter = RETRY_AFTER_SECONDS.get(rejection.error);
        this.headers = retryAfter === undefined ? headers : { ...headers, 'Retry-After': `${retryAfter}` };
    }
}
/** The refusal that tells a client of any error, without a word of its own text. */
export function refusalOf(error) {
    if (error instanceof Refusal)
        return error;
    const options = { cause: error };
    if (error instanceof StorageUnavailable)
        return new Refusal(rejections.storageUnavailable, {}, options);
    if (error instanceof TokenIssuerUnavailable)
        return new Refusal(rejections.issuerUnavailable, {}, options);
    return new Refusal(rejections.defect, {}, options);
}
//# sourceMappingURL=refusal.js.map