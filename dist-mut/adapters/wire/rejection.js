/** Every error number of the interface, with the sentence that stands where there is nothing more exact to say. */
export const rejections = {
    malformedHttp: { error: 40000, message: 'The request is not well-formed HTTP/1.1' },
    notJson: { error: 40001, message: 'The body must be one JSON text in UTF-8' },
    notANewPlant: { error: 40002, message: 'The body must be a NewPlant' },
    unfaithfulText: { error: 40003, message: 'A text must not contain U+0000 or a lone surrogate' },
    noCredential: { error: 40101, message: 'Send the credential in the header Authorization: Bearer <token>' },
    invalidToken: { error: 40102, message: 'The token is not valid' },
    noSuchPath: { error: 40401, message: 'There is nothing at this path' },
    methodNotAllowed: { error: 40501, message: 'The method is not allowed here; the header Allow names those that are' },
    requestTimeout: { error: 40801, message: 'The request did not arrive in time' },
    idTaken: { error: 40901, message: 'id is taken by a plant that differs in name or tag' },
    alreadyStored: { error: 40902, message: 'The very same plant is already stored, so there is nothing left to do' },
    bodyTooLarge: { error: 41301, message: 'The body is too large' },
    unsupportedMediaType: { error: 41501, message: 'Content-Type must be application/json, with no charset but utf-8' },
    unknownExpectation: { error: 41701, message: 'Expect must be 100-continue or left out' },
    headersTooLarge: { error: 43101, message: 'The headers of the request are too large' },
    defect: { error: 50001, message: 'The service failed; the log has the details under the id in X-Request-Id' },
    plantRefused: { error: 50002, message: 'The storage refuses this plant' },
    storageUnavailable: {
        error: 50301,
        message: 'The storage does not answer; whether the plant was stored is open, so send it again later',
    },
    overloaded: { error: 50302, message: 'Too much work is waiting; send the plant again later' },
    stopping: { error: 50303, message: 'The service is stopping; send the plant again later' },
    issuerUnavailable: { error: 50304, message: 'The token cannot be checked now; send the plant again later' },
};
/** The HTTP status that belongs to a rejection. */
export function statusOf(rejection) {
    return Math.trunc(rejection.error / 100);
}
/** What a client is told of an outcome; `undefined` where its plant was created. */
export function rejectionOf(outcome) {
    switch (outcome.kind) {
        case 'created':
            return undefined;
        case 'already-stored':
            return rejections.alreadyStored;
        case 'id-taken':
            return rejections.idTaken;
        case 'refused':
            return rejections.plantRefused;
        case 'invalid': {
            const rule = outcome.violations.some(({ field }) => field === 'id')
                ? rejections.notANewPlant
                : rejections.unfaithfulText;
            return { ...rule, message: outcome.violations.map(({ message }) => message).join('; ') };
        }
    }
}
//# sourceMappingURL=rejection.js.map