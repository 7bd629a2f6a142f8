import { PLANT_ID_MAX, PLANT_ID_MIN, Plant, StorageUnavailable, } from '../../core/index.js';
import { assertEqual, assertRejects, BrokenPromise } from './contract.js';
const TWO_TO_THE_53RD = 2n ** 53n;
/** Integers that a double, an int32 or an unsigned type would not keep. */
const IDS = [
    PLANT_ID_MIN,
    PLANT_ID_MIN + 1n,
    -TWO_TO_THE_53RD - 1n,
    -(2n ** 31n) - 1n,
    -1n,
    0n,
    1n,
    2n ** 31n,
    2n ** 32n + 1n,
    TWO_TO_THE_53RD - 1n,
    TWO_TO_THE_53RD,
    TWO_TO_THE_53RD + 1n,
    PLANT_ID_MAX - 1n,
    PLANT_ID_MAX,
];
/** Texts that a storage might trim, fold, normalise, cut, quote badly or take for something else than text. */
const TEXTS = [
    '',
    ' ',
    'a',
    'A',
    'a ',
    ' a',
    'a\t\r\n',
    'é',
    'e\u0301',
    'ﬁ',
    'ß',
    'ẞ',
    '🌵',
    '👩🏽‍🌾',
    '\u{10ffff}',
    '\uffff\ufffe\ufdd0\ufffd',
    '\ufeffbefore',
    'in\ufeffside',
    'right \u202eto left',
    '\u2028\u2029\u0085',
    Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join(''),
    '\u007f\u0080\u009f',
    `'"\`''""`,
    '\\',
    '\\\\',
    '\\u0000\\n\\0',
    '%_*?',
    '? ?? :name $1 @tag',
    "'); DROP TABLE plants; --",
    'null',
    'NULL',
    'true',
    '1',
    '01.50',
    '1e400',
    '{"a":1}',
    '[1,2]',
    '"quoted"',
];
/** What every plant repository promises. */
export const plantRepositoryContract = [
    promise('keeps ids exactly, at both ends of int64 and around 2^53', async (plants) => {
        const candidates = IDS.map((id) => plant(id, `${id}`));
        await addAll(plants, candidates);
        await assertHolders(plants, candidates);
        await assertContent(plants, candidates);
    }),
    promise('keeps text code point for code point', async (plants) => {
        const candidates = TEXTS.map((text, index) => plant(BigInt(index), text, text));
        await addAll(plants, candidates);
        await assertHolders(plants, candidates);
        await assertContent(plants, candidates);
    }),
    promise('keeps a text of a megabyte', async (plants) => {
        const long = plant(1n, '🌵'.repeat(2 ** 18), 'é'.repeat(2 ** 19));
        await addAll(plants, [long]);
        await assertHolders(plants, [long]);
        await assertContent(plants, [long]);
    }),
    promise('tells no tag from an empty tag', async (plants) => {
        const candidates = [plant(1n, 'none'), plant(2n, 'empty', '')];
        await addAll(plants, candidates);
        await assertHolders(plants, candidates);
        await assertContent(plants, candidates);
    }),
    promise('tells of a taken id which plant holds it', async (plants) => {
        const holder = plant(7n, 'Monstera', 'indoor');
        await addAll(plants, [holder]);
        await assertOutcomes(plants, [plant(7n, 'Ficus')], [['taken', holder]]);
    }),
    promise('tells so of the very same plant, too', async (plants) => {
        await addAll(plants, [plant(7n, 'Monstera', 'indoor')]);
        await assertOutcomes(plants, [plant(7n, 'Monstera', 'indoor')], [['taken', plant(7n, 'Monstera', 'indoor')]]);
    }),
    promise('never changes a plant that it keeps', async (plants) => {
        const kept = [plant(7n, 'Monstera', 'indoor'), plant(8n, 'Aloe')];
        await addAll(plants, kept);
        await plants.add([plant(7n, 'Ficus', 'outdoor'), plant(7n, 'Monstera'), plant(8n, 'Aloe', 'outdoor')]);
        await assertContent(plants, kept);
    }),
    promise('adds neighbours of a taken plant', async (plants) => {
        const holder = plant(2n, 'Monstera');
        await addAll(plants, [holder]);
        const neighbours = [plant(1n, 'before'), plant(3n, 'after')];
        await assertOutcomes(plants, [neighbours[0], plant(2n, 'Ficus'), neighbours[1]], [['added'], ['taken', holder], ['added']]);
        await assertContent(plants, [...neighbours, holder]);
    }),
    promise('returns the outcomes in the order of the plants', async (plants) => {
        const [one, three] = [plant(1n, 'one'), plant(3n, 'three')];
        await addAll(plants, [one, three]);
        await assertOutcomes(plants, [4n, 3n, 2n, 1n].map((id) => plant(id, 'other')), [['added'], ['taken', three], ['added'], ['taken', one]]);
    }),
    promise('leaves the batch as it was given', async (plants) => {
        const given = [3n, 1n, 2n, 1n].map((id) => plant(id, 'Monstera'));
        const batch = [...given];
        await plants.add(batch);
        if (batch.length !== given.length || batch.some((candidate, index) => candidate !== given[index]))
            throw new BrokenPromise('the batch was changed');
    }),
    promise('of two plants with one id in a batch the first counts', async (plants) => {
        const [first, second] = [plant(5n, 'first'), plant(5n, 'second', 'tag')];
        await assertOutcomes(plants, [first, second], [['added'], ['taken', first]]);
        await assertContent(plants, [first]);
    }),
    promise('of one plant that is twice in a batch the second is taken', async (plants) => {
        const twice = plant(5n, 'twice');
        await assertOutcomes(plants, [twice, twice], [['added'], ['taken', twice]]);
        await assertContent(plants, [twice]);
    }),
    promise('of two plants with a taken id in a batch neither counts', async (plants) => {
        const holder = plant(5n, 'holder');
        await addAll(plants, [holder]);
        const taken = ['taken', holder];
        await assertOutcomes(plants, [plant(5n, 'first'), plant(6n, 'free'), plant(5n, 'second')], [taken, ['added'], taken]);
        await assertContent(plants, [holder, plant(6n, 'free')]);
    }),
    promise('an empty batch has no outcomes', async (plants) => {
        await assertOutcomes(plants, [], []);
        await assertContent(plants, []);
    }),
    promise('takes thousands of plants in one batch', async (plants) => {
        // More than one SQL statement has parameters for: 65,535 at most.
        const candidates = many(22_000);
        await addAll(plants, candidates);
        await assertContent(plants, candidates);
    }),
    promise('finds ids that are twice among thousands in one batch', async (plants) => {
        const firsts = Array.from({ length: 2500 }, (_, index) => plant(BigInt(index), `first ${index}`));
        const seconds = firsts.map(({ id }) => plant(id, 'second')).reverse();
        await assertOutcomes(plants, [...firsts, ...seconds], [...firsts.map(() => ['added']), ...[...firsts].reverse().map((holder) => ['taken', holder])]);
        await assertContent(plants, firsts);
    }),
    promise('takes many megabytes in one batch', async (plants) => {
        const text = '🌵'.repeat(2 ** 18);
        const candidates = Array.from({ length: 18 }, (_, index) => plant(BigInt(index), `${index} ${text}`));
        await addAll(plants, candidates);
        await assertContent(plants, candidates);
    }),
    promise('concurrent batches with overlapping ids give each id to exactly one plant', async (plants) => {
        const ids = Array.from({ length: 60 }, (_, index) => BigInt(index));
        const batches = Array.from({ length: 8 }, (_, batch) => {
            const candidates = ids.slice(batch * 4, batch * 4 + 32).map((id) => plant(id, `of batch ${batch}`));
            return batch % 2 === 0 ? candidates : candidates.reverse();
        });
        const winners = await addAtOnce(plants, batches);
        assertEqual(ascending(winners).map(({ id }) => id), ids, 'ids that were added');
        await assertContent(plants, winners);
    }),
    promise('of a hundred concurrent adds of one id exactly one is added', async (plants) => {
        const batches = Array.from({ length: 100 }, (_, index) => [plant(7n, `plant ${index % 3}`, `${index}`)]);
        const winners = await addAtOnce(plants, batches);
        assertEqual(winners.length, 1, 'how many were added');
        await assertContent(plants, winners);
    }),
    promise('reads nothing where there is no plant', async (plants) => {
        await assertContent(plants, []);
    }),
    promise('reads every plant back once, ascending by id', async (plants) => {
        const shuffled = Array.from({ length: 1500 }, (_, index) => BigInt((index * 7) % 1500));
        const ids = shuffled.flatMap((id) => [PLANT_ID_MIN + id, (id - 750n) * 3n, PLANT_ID_MAX - id]);
        const candidates = ids.map((id) => plant(id, `plant ${id}`));
        for (let start = 0; start < candidates.length; start += 1000) {
            await addAll(plants, candidates.slice(start, start + 1000));
        }
        await assertContent(plants, candidates);
        await assertContent(plants, candidates);
    }),
    promise('reads every plant to each of several readers at once', async (plants) => {
        const candidates = many(2500);
        await addAll(plants, candidates);
        await Promise.all([1, 2, 3].map(() => assertContent(plants, candidates)));
    }),
    promise('reads every plant once, ascending by id, while others are added', async (plants) => {
        const before = many(2500).map(({ id, name }) => plant(id * 2n, name));
        await addAll(plants, before);
        const read = [];
        let batches = 0;
        for await (const batch of plants.readAll()) {
            read.push(...batch);
            if (read.length > before.length * 2)
                throw new BrokenPromise('it reads more plants than there are');
            if (batches++ < 10)
                await plants.add([-1n, 1n, 3001n + 2n * BigInt(batches)].map((id) => plant(id, 'meanwhile')));
        }
        const ids = read.map(({ id }) => id);
        assertEqual(ids, [...new Set(ascending(read).map(({ id }) => id))], 'ids in their order, each once');
        const wereThere = read.filter(({ id }) => id % 2n === 0n);
        assertEqual(wereThere, before, 'plants that were there before');
    }),
    promise('leaves the batches that a reader has as they were', async (plants) => {
        const candidates = many(2500);
        await addAll(plants, candidates);
        const batches = [];
        for await (const batch of plants.readAll())
            batches.push(batch);
        assertEqual(batches.flat(), candidates, 'plants of all batches');
    }),
    promise('reads the same where a reader changed a batch that it was given', async (plants) => {
        const candidates = many(2);
        await addAll(plants, candidates);
        for await (const batch of plants.readAll())
            Reflect.set(batch, 0, batch[1]);
        await assertContent(plants, candidates);
    }),
    promise('goes on working where a reader leaves early', async (plants) => {
        const candidates = many(1500);
        await addAll(plants, candidates);
        for (let round = 0; round < 20; round++)
            for await (const _ of plants.readAll())
                break;
        await addAll(plants, [plant(-1n, 'later')]);
        await assertContent(plants, [plant(-1n, 'later'), ...candidates]);
    }),
    promise('says that it is ready', async (plants) => {
        await plants.ready();
    }),
    promise('add throws StorageUnavailable after close', async (plants) => {
        await plants.close();
        await assertRejects('add', StorageUnavailable, () => plants.add([plant(1n, 'late')]));
        await assertRejects('add of an empty batch', StorageUnavailable, () => plants.add([]));
    }),
    promise('readAll throws StorageUnavailable after close, while iterating', async (plants) => {
        await addAll(plants, [plant(1n, 'Monstera')]);
        await plants.close();
        await assertRejects('readAll', StorageUnavailable, () => readTo(plants.readAll(), []));
    }),
    promise('ready throws StorageUnavailable after close', async (plants) => {
        await plants.close();
        await assertRejects('ready', StorageUnavailable, () => plants.ready());
    }),
    promise('finishes what is under way before it is closed', async (plants) => {
        const holder = plant(1n, 'Monstera');
        await addAll(plants, [holder]);
        let closed = false;
        const adding = plants.add([plant(1n, 'Ficus'), plant(2n, 'Aloe')]).then((outcomes) => ({ outcomes, closed }));
        await plants.close();
        // Some turns later: who resolves in the same one is not late.
        for (let turn = 0; turn < 100; turn++)
            await undefined;
        closed = true;
        const added = await adding;
        assertEqual(added.outcomes.map(summary), [['taken', holder], ['added']], 'outcomes');
        if (added.closed)
            throw new BrokenPromise('it was closed before it had added the plants');
    }),
    promise('a reader that goes on after close reads every plant or throws StorageUnavailable', async (plants) => {
        const candidates = many(2500);
        await addAll(plants, candidates);
        await assertCompleteOrUnavailable(plants, candidates, async (goOn) => {
            const closing = plants.close();
            await goOn().finally(() => closing);
        });
    }),
    promise('closing twice does nothing', async (plants) => {
        await Promise.all([plants.close(), plants.close()]);
        await plants.close();
    }),
];
/** What a plant repository promises, where its plants outlive it. */
export const durablePlantRepositoryContract = [
    ...plantRepositoryContract,
    {
        name: 'what was added is there after reopening, exact in id and text',
        async run(harness) {
            const kept = [
                ...IDS.map((id) => plant(id, `${id}`)),
                ...TEXTS.map((text, index) => plant(BigInt(index) + 1000n, text, text)),
                plant(43n, 'no tag'),
                plant(44n, 'an empty tag', ''),
            ];
            await closingAfter(await harness.open(), (plants) => addAll(plants, kept));
            await closingAfter(await harness.reopen(), (plants) => assertContent(plants, kept));
        },
    },
    {
        name: 'what was answered is there though it was never closed, as after a crash',
        async run(harness) {
            const kept = many(2500);
            await closingAfter(await harness.open(), async (killed) => {
                await addAll(killed, kept);
                await closingAfter(await harness.reopen(), (plants) => assertContent(plants, kept));
            });
        },
    },
    {
        name: 'an id is held by the same plant after reopening, whoever asked for it before',
        async run(harness) {
            const kept = [plant(1n, 'Monstera', 'indoor'), plant(2n, 'Ficus')];
            await closingAfter(await harness.open(), async (plants) => {
                await addAll(plants, kept);
                await assertHolders(plants, kept);
            });
            await closingAfter(await harness.reopen(), async (plants) => {
                await assertHolders(plants, kept);
                await assertContent(plants, kept);
            });
        },
    },
    {
        name: 'goes on adding after each reopening',
        async run(harness) {
            const kept = many(5);
            for (const [index, candidate] of kept.entries()) {
                await closingAfter(await (index === 0 ? harness.open() : harness.reopen()), async (plants) => {
                    await addAll(plants, [candidate]);
                    await assertContent(plants, kept.slice(0, index + 1));
                });
            }
        },
    },
];
/** What a plant repository promises besides, where its storage can go away. */
export const plantRepositoryOutageContract = [
    outage('add throws StorageUnavailable while the storage is away', async (plants, away) => {
        await away(() => assertRejects('add', StorageUnavailable, () => plants.add([plant(1n, 'Monstera')])));
    }),
    outage('readAll reads every plant or throws StorageUnavailable while the storage is away', async (plants, away) => {
        const kept = many(2500);
        await addAll(plants, kept);
        await away(() => assertCompleteOrUnavailable(plants, kept));
    }),
    outage('a reader whose storage goes away reads every plant or throws StorageUnavailable', async (plants, away) => {
        const kept = many(2500);
        await addAll(plants, kept);
        await assertCompleteOrUnavailable(plants, kept, away);
    }),
    outage('is ready while the storage is away only if it can read, else ready throws StorageUnavailable', async (plants, away) => {
        const kept = [plant(1n, 'Monstera')];
        await addAll(plants, kept);
        await away(async () => {
            if (!(await isAvailable(() => plants.ready())))
                return;
            await assertContent(plants, kept);
        });
    }),
    outage('works again when the storage is back, and adding the same plants again finds out what became of them', async (plants, away) => {
        const [kept, open] = [plant(1n, 'Monstera'), plant(2n, 'Ficus', 'indoor')];
        await addAll(plants, [kept]);
        await away(() => assertRejects('add', StorageUnavailable, () => plants.add([open])));
        await plants.ready();
        const [outcome] = await plants.add([open]);
        if (outcome?.kind !== 'added')
            assertEqual(outcome && summary(outcome), ['taken', open], 'the outcome');
        await assertContent(plants, [kept, open]);
    }),
    outage('can be closed while the storage is away', async (plants, away) => {
        await addAll(plants, [plant(1n, 'Monstera')]);
        await away(async () => {
            await plants.close();
            await assertRejects('ready', StorageUnavailable, () => plants.ready());
        });
    }),
];
function promise(name, check) {
    return { name, run: async (harness) => closingAfter(await harness.open(), check) };
}
function outage(name, check) {
    return {
        name,
        run: async (harness) => closingAfter(await harness.open(), (plants) => check(plants, (work) => harness.withStorageAway(work))),
    };
}
async function closingAfter(plants, check) {
    try {
        await check(plants);
    }
    finally {
        await plants.close();
    }
}
function plant(id, name, tag) {
    const candidate = { id, name, tag };
    const made = Plant.from(candidate);
    if (made instanceof Plant)
        return made;
    throw new TypeError(`a case uses what is no plant: ${made.map(({ message }) => message).join('; ')}`);
}
/** Plants with the ids from 0 on. */
function many(count) {
    return Array.from({ length: count }, (_, index) => plant(BigInt(index), `plant ${index}`));
}
async function assertOutcomes(plants, batch, expected) {
    assertEqual((await plants.add(batch)).map(summary), expected, 'outcomes');
}
/** Adds plants whose ids are free. */
async function addAll(plants, candidates) {
    await assertOutcomes(plants, candidates, candidates.map(() => ['added']));
}
/** Adds batches at once. Whoever is not added must be told of the one that was; those are returned. */
async function addAtOnce(plants, batches) {
    const outcomes = await Promise.all(batches.map((batch) => plants.add(batch)));
    const tried = batches.flatMap((batch, index) => batch.map((candidate, position) => ({ candidate, outcome: outcomes[index]?.[position] })));
    const winners = tried.filter(({ outcome }) => outcome?.kind === 'added').map(({ candidate }) => candidate);
    for (const { candidate, outcome } of tried) {
        const winner = winners.find(({ id }) => id === candidate.id);
        const expected = winner === candidate ? ['added'] : ['taken', winner];
        assertEqual(outcome && summary(outcome), expected, `the outcome of ${candidate.id} ${candidate.name}`);
    }
    return winners;
}
/** Every one of `kept` is what the repository tells of when its id is asked for again. */
async function assertHolders(plants, kept) {
    await assertOutcomes(plants, kept.map(({ id }) => plant(id, 'another plant')), kept.map((holder) => ['taken', holder]));
}
/** The repository holds exactly these plants, and reads them ascending by id. */
async function assertContent(plants, expected) {
    await readTo(plants.readAll(), expected);
}
async function readTo(reading, expected) {
    const read = [];
    for await (const batch of reading) {
        read.push(...batch.map(assertPlant));
        if (read.length > expected.length)
            throw new BrokenPromise(`read more than the ${expected.length} plants there are`);
    }
    assertEqual(read, ascending(expected), 'plants that were read');
}
/**
 * Reads everything, or is told that it cannot; a part is never taken for the whole.
 *
 * @param interrupt is called after the first batch, and calls what goes on reading
 */
async function assertCompleteOrUnavailable(plants, expected, interrupt = (goOn) => goOn()) {
    const reader = plants.readAll()[Symbol.asyncIterator]();
    const read = [];
    /** Whether there is more. */
    const readOn = async () => {
        const { done, value } = await reader.next();
        if (!done)
            read.push(...value);
        return !done && read.length <= expected.length;
    };
    const isRead = await isAvailable(async () => {
        if (await readOn())
            await interrupt(async () => {
                while (await readOn())
                    ;
            });
    });
    if (isRead)
        assertEqual(read, ascending(expected), 'plants that were read');
}
/** Whether `work` did what it was asked; `false` where it threw StorageUnavailable. */
async function isAvailable(work) {
    try {
        await work();
        return true;
    }
    catch (error) {
        if (error instanceof StorageUnavailable)
            return false;
        throw new BrokenPromise(`expected StorageUnavailable, got ${error}`);
    }
}
function ascending(plants) {
    return [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
}
function summary(outcome) {
    return outcome.kind === 'taken' ? [outcome.kind, assertPlant(outcome.holder)] : [outcome.kind];
}
function assertPlant(value) {
    if (value instanceof Plant)
        return value;
    throw new BrokenPromise('a plant was made without Plant.from');
}
//# sourceMappingURL=plant-repository.js.map