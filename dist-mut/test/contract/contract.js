/** Says what an adapter should have done, and what it did. */
export class BrokenPromise extends Error {
    name = 'BrokenPromise';
}
/** Whether both are the same JSON; a bigint counts as one. */
export function assertEqual(actual, expected, what) {
    const [got, wanted] = [textOf(actual), textOf(expected)];
    if (got !== wanted)
        throw new BrokenPromise(`${what}: expected ${shortened(wanted)}, got ${shortened(got)}`);
}
/** Whether `work` fails with an error of this class of the core, and says so by a promise. */
export async function assertRejects(what, expected, work) {
    let working;
    try {
        working = work();
    }
    catch (error) {
        throw new BrokenPromise(`${what}: expected a promise that rejects, but the call itself threw ${error}`);
    }
    try {
        await working;
    }
    catch (error) {
        if (error instanceof expected)
            return;
        throw new BrokenPromise(`${what}: expected ${expected.name}, got ${error}`);
    }
    throw new BrokenPromise(`${what}: expected ${expected.name}, but it did what it was asked`);
}
function textOf(value) {
    return `${JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? `${part}n` : part))}`;
}
function shortened(text) {
    return text.length > 2000 ? `${text.slice(0, 2000)}… (${text.length} characters)` : text;
}
//# sourceMappingURL=contract.js.map