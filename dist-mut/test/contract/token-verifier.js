import { TokenIssuerUnavailable } from '../../core/index.js';
import { assertEqual, assertRejects, BrokenPromise } from './contract.js';
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
/** What every token verifier promises. */
export const tokenVerifierContract = [
    promise('knows who a valid token stands for', async (verifier, validToken) => {
        const principal = await verifier.verify(validToken);
        if (principal === undefined)
            throw new BrokenPromise('the valid token was not accepted');
        if (typeof principal.subject !== 'string' || principal.subject === '')
            throw new BrokenPromise('the principal has no name');
    }),
    promise('gives a name that reveals nothing of the token', async (verifier, validToken) => {
        const subject = (await verifier.verify(validToken))?.subject ?? '';
        for (const piece of [...pieces(validToken, 4), ...encodings(validToken).flatMap((text) => pieces(text, 8))]) {
            if (subject.includes(piece))
                throw new BrokenPromise('the subject holds a piece of the token');
        }
    }),
    promise('gives one token the same name each time', async (verifier, validToken) => {
        const [first, second] = await Promise.all([verifier.verify(validToken), verifier.verify(validToken)]);
        assertEqual(second?.subject, first?.subject, 'the second subject');
        assertEqual((await verifier.verify(validToken))?.subject, first?.subject, 'the third subject');
    }),
    promise('answers many at once, each for its own token', async (verifier, validToken) => {
        const tokens = Array.from({ length: 100 }, (_, index) => (index % 3 === 0 ? validToken : `b3RoZXI${index}`));
        const principals = await Promise.all(tokens.map((token) => verifier.verify(token)));
        assertEqual(principals.map((principal) => principal !== undefined), tokens.map((token) => token === validToken), 'who is let in');
    }),
    promise('knows nobody for another token after a valid one', async (verifier, validToken) => {
        await verifier.verify(validToken);
        assertEqual(await verifier.verify('b3RoZXI'), undefined, 'the principal');
    }),
    promise('knows who a valid token stands for after tokens that are not', async (verifier, validToken) => {
        for (let turn = 0; turn < 20; turn++)
            await verifier.verify(`b3RoZXI${turn}`);
        if ((await verifier.verify(validToken)) === undefined)
            throw new BrokenPromise('the valid token was not accepted');
    }),
    nobody('an empty token', () => ''),
    nobody('another token', () => 'b3RoZXI'),
    nobody('the beginning of a valid token', (valid) => valid.slice(0, -1)),
    nobody('the end of a valid token', (valid) => valid.slice(1)),
    nobody('a valid token and one more character', (valid) => `${valid}A`),
    nobody('one more character and a valid token', (valid) => `A${valid}`),
    nobody('a valid token with another character in its middle', (valid) => {
        const middle = Math.floor(valid.length / 2);
        return `${valid.slice(0, middle)}${valid[middle] === 'x' ? 'y' : 'x'}${valid.slice(middle + 1)}`;
    }),
    nobody('a valid token twice', (valid) => valid + valid),
    nobody('a valid token between blanks', (valid) => ` ${valid} `),
    nobody('a valid token and a line break', (valid) => `${valid}\n`),
    nobody('a valid token after its scheme', (valid) => `Bearer ${valid}`),
    nobody('a valid token in other letter case', (valid) => valid === valid.toUpperCase() ? valid.toLowerCase() : valid.toUpperCase()),
    nobody('a token with characters that no token may have', () => '\0\u{1f335}\ud800\r\n'),
    nobody('a token of a megabyte', () => 'a'.repeat(2 ** 20)),
    nobody('a word that objects know', () => '__proto__'),
];
/** What a token verifier promises besides, where it asks an issuer that can go away. */
export const tokenVerifierOutageContract = [
    {
        name: 'throws TokenIssuerUnavailable where it never reached its issuer, and recovers when the issuer is back',
        async run(harness) {
            const verifier = await harness.create();
            await harness.withIssuerAway(() => assertRejects('verify', TokenIssuerUnavailable, () => verifier.verify(harness.validToken)));
            if ((await verifier.verify(harness.validToken)) === undefined)
                throw new BrokenPromise('the valid token was not accepted');
        },
    },
];
function promise(name, check) {
    return { name, run: async (harness) => check(await harness.create(), harness.validToken) };
}
/** Nobody stands for what `tokenOf` makes of the valid token, and that is an answer, not an error. */
function nobody(what, tokenOf) {
    return promise(`knows nobody for ${what}`, async (verifier, validToken) => {
        const token = tokenOf(validToken);
        if (token === validToken)
            throw new TypeError('validToken must have letters');
        assertEqual(await verifier.verify(token), undefined, 'the principal');
    });
}
/** Every piece of `text` of that length. */
function pieces(text, length) {
    return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, start) => text.slice(start, start + length));
}
/** An ASCII text in hexadecimal and in Base64, its end left out. */
function encodings(text) {
    const codes = Array.from(text, (character) => character.charCodeAt(0));
    const bits = codes.map((code) => code.toString(2).padStart(8, '0')).join('');
    const sextets = bits.match(/.{6}/g) ?? [];
    return [
        codes.map((code) => code.toString(16).padStart(2, '0')).join(''),
        sextets.map((sextet) => BASE64[Number.parseInt(sextet, 2)]).join(''),
    ];
}
//# sourceMappingURL=token-verifier.js.map