import { expect } from 'chai';
import { describe, it } from 'mocha';
import { rejectionOf, rejections, statusOf } from '../../../adapters/wire/index.js';
import { Plant, PlantRefused } from '../../../core/index.js';
describe('The error numbers', () => {
    it('are those of the interface, and each stands for its own thing, for ever', () => {
        expect(Object.fromEntries(Object.entries(rejections).map(([name, { error }]) => [name, error]))).to.deep.equal({
            malformedHttp: 40000,
            notJson: 40001,
            notANewPlant: 40002,
            unfaithfulText: 40003,
            noCredential: 40101,
            invalidToken: 40102,
            noSuchPath: 40401,
            methodNotAllowed: 40501,
            requestTimeout: 40801,
            idTaken: 40901,
            alreadyStored: 40902,
            bodyTooLarge: 41301,
            unsupportedMediaType: 41501,
            unknownExpectation: 41701,
            headersTooLarge: 43101,
            defect: 50001,
            plantRefused: 50002,
            storageUnavailable: 50301,
            overloaded: 50302,
            stopping: 50303,
            issuerUnavailable: 50304,
        });
    });
    it('begin with their status', () => {
        const statuses = new Set(Object.values(rejections).map(statusOf));
        expect([...statuses]).to.deep.equal([400, 401, 404, 405, 408, 409, 413, 415, 417, 431, 500, 503]);
        for (const rejection of Object.values(rejections))
            expect(`${rejection.error}`).to.match(RegExp(`^${statusOf(rejection)}0`));
    });
    it('each come with one line for a person', () => {
        for (const { message } of Object.values(rejections))
            expect(message).to.match(/^[^\r\n]{10,}$/);
    });
});
describe('A client is told', () => {
    const newPlant = { id: 1n, name: 'Monstera' };
    const plant = Plant.from(newPlant);
    if (!(plant instanceof Plant))
        throw new TypeError('no plant');
    it('nothing of an error where its plant was created', () => {
        expect(rejectionOf({ kind: 'created', plant })).to.equal(undefined);
    });
    it('40901 where the id is taken by another plant', () => {
        expect(rejectionOf({ kind: 'id-taken' })).to.include({ error: 40901 });
    });
    it('40902 where the very same plant is stored', () => {
        expect(rejectionOf({ kind: 'already-stored', plant })).to.include({ error: 40902 });
    });
    it('50002 where the storage refuses its plant, without the words of the storage', () => {
        const rejection = rejectionOf({
            kind: 'refused',
            error: new PlantRefused('canary', { cause: new Error('canary') }),
        });
        expect(rejection).to.deep.equal({ error: 50002, message: 'The storage refuses this plant' });
    });
    it('40003 where a text cannot be kept, and which', () => {
        expect(rejectionOf({ kind: 'invalid', violations: violationsOf({ id: 1n, name: '\0', tag: '\ud800' }) })).to.deep.equal({
            error: 40003,
            message: 'name must not contain U+0000 or a lone surrogate; tag must not contain U+0000 or a lone surrogate',
        });
    });
    it('40002 where the id is no int64, and of a bad text besides', () => {
        expect(rejectionOf({ kind: 'invalid', violations: violationsOf({ id: 2n ** 63n, name: '\0' }) })).to.deep.equal({
            error: 40002,
            message: 'id must be an integer from -9223372036854775808 to 9223372036854775807; name must not contain U+0000 or a lone surrogate',
        });
    });
});
function violationsOf(newPlant) {
    const violations = Plant.from(newPlant);
    if (violations instanceof Plant)
        throw new TypeError('a plant');
    return violations;
}
//# sourceMappingURL=rejection.test.js.map