/**
 * Adapters that are each wrong in exactly one way, written from the doc comments of the ports alone, without a look at
 * the contracts: a contract that lets one of them pass has a gap.
 */
import { timingSafeEqual } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import { PLANT_ID_MAX, PLANT_ID_MIN, Plant, PlantRefused, StorageUnavailable, TokenIssuerUnavailable, } from '../../core/index.js';
/** How many plants one batch of a paging reader holds. */
const PAGE = 100;
/** How many plants the adapters with a limit take or give at once. */
const LIMIT = 1000;
/** How many placeholders a PostgreSQL statement has room for. */
const PLACEHOLDERS = 65_535;
/** What a driver throws of its own accord. */
class DriverError extends Error {
}
/** The plant that `candidate` describes; it is known to be one. */
function plantOf(candidate) {
    const plant = Plant.from(candidate);
    if (plant instanceof Plant)
        return plant;
    throw new TypeError('a broken adapter made something that is no plant');
}
/** All that `batches` hold, in one array. */
async function collect(batches) {
    const plants = [];
    for await (const batch of batches)
        for (const plant of batch)
            plants.push(plant);
    return plants;
}
/** `plants` cut into arrays of at most {@link PAGE}. */
function* pagesOf(plants) {
    for (let from = 0; from < plants.length; from += PAGE)
        yield plants.slice(from, from + PAGE);
}
function ascending(a, b) {
    return a.id < b.id ? -1 : 1;
}
/** The same as `text`, cut after so many code points. */
function cut(text, length) {
    return [...text].slice(0, length).join('');
}
/** A right repository whose rows and calls under way a subclass can reach. */
class RowRepository {
    rows = new Map();
    closed = false;
    #underWay = new Set();
    async add(plants) {
        this.assertOpen();
        return plants.map((plant) => this.addOne(plant));
    }
    async *readAll() {
        this.assertOpen();
        yield* pagesOf(this.sorted());
    }
    async ready() {
        this.assertOpen();
    }
    async close() {
        this.closed = true;
        await Promise.allSettled(this.#underWay);
    }
    addOne(plant) {
        const holder = this.rows.get(plant.id);
        if (holder !== undefined)
            return { kind: 'taken', holder };
        this.rows.set(plant.id, plant);
        return { kind: 'added' };
    }
    sorted() {
        return [...this.rows.values()].sort(ascending);
    }
    assertOpen() {
        if (this.closed)
            throw new StorageUnavailable('the repository is closed');
    }
    /** Has `close` wait for `work`. */
    async finish(work) {
        this.#underWay.add(work);
        try {
            return await work;
        }
        finally {
            this.#underWay.delete(work);
        }
    }
}
/** Stores something else than what it was given. */
class Rewriting extends MemoryPlantRepository {
    #change;
    constructor(change) {
        super();
        this.#change = change;
    }
    add(plants) {
        return super.add(plants.map((plant) => {
            const { id, name, tag } = plant;
            return plantOf({ id, name, tag, ...this.#change(plant) });
        }));
    }
}
/** A fault that alters both texts of a plant. */
function rewritingTexts(change) {
    return new Rewriting(({ name, tag }) => ({ name: change(name), tag: tag === undefined ? undefined : change(tag) }));
}
/** Stores rightly and tells something else. */
class Misreporting extends MemoryPlantRepository {
    #tell;
    constructor(tell) {
        super();
        this.#tell = tell;
    }
    async add(plants) {
        return this.#tell(await super.add(plants), plants);
    }
}
/** Stores rightly and reads something else. */
class Misreading extends MemoryPlantRepository {
    #pages;
    constructor(pages) {
        super();
        this.#pages = pages;
    }
    async *readAll() {
        yield* this.#pages(await collect(super.readAll()));
    }
}
class OneNumberOneKey extends RowRepository {
    #byNumber = new Map();
    addOne(plant) {
        const holder = this.#byNumber.get(Number(plant.id));
        if (holder !== undefined)
            return { kind: 'taken', holder };
        this.#byNumber.set(Number(plant.id), plant);
        return super.addOne(plant);
    }
}
class ReadsInOrderOfArrival extends RowRepository {
    sorted() {
        return [...this.rows.values()];
    }
}
class SortsByNumber extends RowRepository {
    sorted() {
        return [...this.rows.values()].sort((a, b) => Number(a.id) - Number(b.id));
    }
}
class SortsWithinBatches extends RowRepository {
    async *readAll() {
        this.assertOpen();
        for (const page of pagesOf([...this.rows.values()]))
            yield page.sort(ascending);
    }
}
class Overwrites extends RowRepository {
    addOne(plant) {
        const outcome = super.addOne(plant);
        this.rows.set(plant.id, plant);
        return outcome;
    }
}
class FillsMissingTag extends RowRepository {
    addOne(plant) {
        const outcome = super.addOne(plant);
        if (outcome.kind !== 'taken' || outcome.holder.tag !== undefined)
            return outcome;
        const { id, name } = outcome.holder;
        this.rows.set(id, plantOf({ id, name, tag: plant.tag }));
        return outcome;
    }
}
class LastInBatchWins extends MemoryPlantRepository {
    async add(plants) {
        return (await super.add(plants.toReversed())).reverse();
    }
}
class AddsTwinsOfOneBatch extends RowRepository {
    #twins = [];
    async add(plants) {
        this.assertOpen();
        const before = new Set(this.rows.keys());
        return plants.map((plant) => {
            const outcome = this.addOne(plant);
            if (outcome.kind !== 'taken' || before.has(plant.id))
                return outcome;
            this.#twins.push(plant);
            return { kind: 'added' };
        });
    }
    sorted() {
        return [...super.sorted(), ...this.#twins].sort(ascending);
    }
}
class TakenRollsBack extends RowRepository {
    async add(plants) {
        const before = new Map(this.rows);
        const outcomes = await super.add(plants);
        if (outcomes.some(({ kind }) => kind === 'taken'))
            this.rows = before;
        return outcomes;
    }
}
class StopsAtTaken extends RowRepository {
    async add(plants) {
        this.assertOpen();
        const outcomes = [];
        for (const plant of plants) {
            const outcome = this.addOne(plant);
            outcomes.push(outcome);
            if (outcome.kind === 'taken')
                break;
        }
        return outcomes;
    }
}
class ThrowsAtTaken extends MemoryPlantRepository {
    async add(plants) {
        const outcomes = await super.add(plants);
        if (outcomes.some(({ kind }) => kind === 'taken'))
            throw new DriverError('duplicate key');
        return outcomes;
    }
}
class RefusedThrows extends MemoryPlantRepository {
    async add(plants) {
        await this.ready();
        if (plants.some(({ name, tag = '' }) => name.length + tag.length > 8000))
            throw new PlantRefused('too long');
        return super.add(plants);
    }
}
class RefusedRefusesNeighbours extends MemoryPlantRepository {
    async add(plants) {
        await this.ready();
        if (!plants.some(({ name, tag = '' }) => name.length + tag.length > 8000))
            return super.add(plants);
        return plants.map(() => ({ kind: 'refused', error: new PlantRefused('too long') }));
    }
}
class ThrowsAtNothing extends MemoryPlantRepository {
    async add(plants) {
        await this.ready();
        if (plants.length === 0)
            throw new DriverError('syntax error at end of input');
        return super.add(plants);
    }
}
class LimitedBatch extends MemoryPlantRepository {
    #limit;
    constructor(limit) {
        super();
        this.#limit = limit;
    }
    async add(plants) {
        await this.ready();
        if (plants.length > this.#limit)
            throw new DriverError('too many parameters');
        return super.add(plants);
    }
}
class DropsBeyondLimit extends MemoryPlantRepository {
    async add(plants) {
        const outcomes = await super.add(plants.slice(0, LIMIT));
        return plants.map((_, index) => outcomes[index] ?? { kind: 'added' });
    }
}
class LooksThenWrites extends RowRepository {
    add(plants) {
        return this.finish(this.#add(plants));
    }
    async #add(plants) {
        this.assertOpen();
        const seen = new Map(this.rows);
        await nextTurn();
        return plants.map((plant) => {
            const holder = seen.get(plant.id);
            if (holder !== undefined)
                return { kind: 'taken', holder };
            seen.set(plant.id, plant);
            this.rows.set(plant.id, plant);
            return { kind: 'added' };
        });
    }
}
class WritesTheWholeFile extends RowRepository {
    add(plants) {
        return this.finish(this.#add(plants));
    }
    async #add(plants) {
        this.assertOpen();
        const file = new Map(this.rows);
        await nextTurn();
        const outcomes = plants.map((plant) => {
            const holder = this.rows.get(plant.id) ?? file.get(plant.id);
            if (holder !== undefined)
                return { kind: 'taken', holder };
            file.set(plant.id, plant);
            return { kind: 'added' };
        });
        this.rows = file;
        return outcomes;
    }
}
class RaceNamesLoser extends RowRepository {
    add(plants) {
        return this.finish(this.#add(plants));
    }
    async #add(plants) {
        this.assertOpen();
        const seen = new Map(this.rows);
        await nextTurn();
        return plants.map((plant) => {
            const outcome = this.addOne(plant);
            if (outcome.kind === 'added')
                seen.set(plant.id, plant);
            return outcome.kind === 'taken' ? { kind: 'taken', holder: seen.get(plant.id) ?? plant } : outcome;
        });
    }
}
class RaceThrows extends RowRepository {
    #locked = new Set();
    add(plants) {
        return this.finish(this.#add(plants));
    }
    async #add(plants) {
        this.assertOpen();
        if (plants.some(({ id }) => this.#locked.has(id)))
            throw new StorageUnavailable('could not serialize access');
        for (const { id } of plants)
            this.#locked.add(id);
        await nextTurn();
        for (const { id } of plants)
            this.#locked.delete(id);
        return plants.map((plant) => this.addOne(plant));
    }
}
class WritesBehind extends RowRepository {
    #durable = new Set();
    async add(plants) {
        const outcomes = await super.add(plants);
        void this.finish(this.#flush(plants));
        return outcomes;
    }
    async #flush(plants) {
        await sleep(20);
        for (const { id } of plants)
            this.#durable.add(id);
    }
    sorted() {
        return super.sorted().filter(({ id }) => this.#durable.has(id));
    }
}
class PagesByOffset extends RowRepository {
    async *readAll() {
        this.assertOpen();
        for (let offset = 0;; offset += PAGE) {
            const page = this.sorted().slice(offset, offset + PAGE);
            if (page.length === 0)
                return;
            yield page;
        }
    }
}
class SharesCursor extends RowRepository {
    #offset = 0;
    async *readAll() {
        this.assertOpen();
        const plants = this.sorted();
        this.#offset = 0;
        while (this.#offset < plants.length) {
            const page = plants.slice(this.#offset, this.#offset + PAGE);
            this.#offset += PAGE;
            yield page;
        }
    }
}
class ReadsOnce extends RowRepository {
    #read = new Set();
    async *readAll() {
        this.assertOpen();
        for (const page of pagesOf(this.sorted().filter(({ id }) => !this.#read.has(id)))) {
            for (const { id } of page)
                this.#read.add(id);
            yield page;
        }
    }
}
class LockedWhileRead extends RowRepository {
    #readers = 0;
    async add(plants) {
        if (this.#readers > 0)
            throw new StorageUnavailable('the database is locked');
        return super.add(plants);
    }
    async *readAll() {
        this.#readers += 1;
        try {
            yield* super.readAll();
        }
        finally {
            this.#readers -= 1;
        }
    }
}
class LeaksAbandonedReader extends RowRepository {
    #leaked = false;
    async *readAll() {
        let done = false;
        try {
            yield* super.readAll();
            done = true;
        }
        finally {
            if (!done)
                this.#leaked = true;
        }
    }
    assertOpen() {
        super.assertOpen();
        if (this.#leaked)
            throw new StorageUnavailable('no connection is free');
    }
}
class HandsOutItsIndex extends RowRepository {
    #index = [];
    async *readAll() {
        this.assertOpen();
        if (this.#index.length !== this.rows.size)
            this.#index = super.sorted();
        if (this.rows.size > 0)
            yield this.#index;
    }
    addOne(plant) {
        const outcome = super.addOne(plant);
        if (outcome.kind === 'added')
            this.#index = [];
        return outcome;
    }
}
class ReadThrowsAtCall extends MemoryPlantRepository {
    #closed = false;
    readAll() {
        if (this.#closed)
            throw new StorageUnavailable('the repository is closed');
        return super.readAll();
    }
    close() {
        this.#closed = true;
        return super.close();
    }
}
class DriverErrorFromAdd extends RowRepository {
    async add(plants) {
        if (this.closed)
            throw new DriverError('the pool has ended');
        return super.add(plants);
    }
}
class DriverErrorFromReadAll extends RowRepository {
    async *readAll() {
        if (this.closed)
            throw new DriverError('the pool has ended');
        yield* super.readAll();
    }
}
class DriverErrorFromReady extends RowRepository {
    async ready() {
        if (this.closed)
            throw new DriverError('the pool has ended');
    }
}
class AddsAfterClose extends RowRepository {
    async add(plants) {
        return plants.map((plant) => this.addOne(plant));
    }
}
class AddsNothingAfterClose extends MemoryPlantRepository {
    async add(plants) {
        return plants.length === 0 ? [] : super.add(plants);
    }
}
class ReadsEmptyAfterClose extends RowRepository {
    async *readAll() {
        if (!this.closed)
            yield* super.readAll();
    }
}
class AlwaysReady extends MemoryPlantRepository {
    async ready() { }
}
class ClosesOnce extends MemoryPlantRepository {
    #closed = false;
    async close() {
        if (this.#closed)
            throw new StorageUnavailable('the repository is closed');
        this.#closed = true;
        await super.close();
    }
}
class CloseCutsAdd extends RowRepository {
    async add(plants) {
        this.assertOpen();
        await nextTurn();
        return super.add(plants);
    }
}
class CloseDoesNotWait extends RowRepository {
    async add(plants) {
        const outcomes = await super.add(plants);
        await sleep(20);
        return outcomes;
    }
}
class CloseEndsReading extends RowRepository {
    async *readAll() {
        for await (const page of super.readAll()) {
            if (this.closed)
                return;
            yield page;
        }
    }
}
class ReopensOnUse extends RowRepository {
    async close() {
        await super.close();
        this.closed = false;
    }
}
/** `plant` as a driver hands a row out: with its fields, without its methods. */
function rowOf({ id, name, tag }) {
    return { id, name, tag };
}
function* pagesRepeatingLast(plants) {
    for (let from = 0; from < plants.length; from += PAGE - 1) {
        yield plants.slice(from, from + PAGE);
        if (from + PAGE >= plants.length)
            return;
    }
}
function* pagesSkippingOne(plants) {
    for (let from = 0; from < plants.length; from += PAGE + 1)
        yield plants.slice(from, from + PAGE);
}
function* pagesInOneArray(plants) {
    const buffer = [];
    for (const page of pagesOf(plants)) {
        buffer.splice(0, buffer.length, ...page);
        yield buffer;
    }
}
function* descendingBatches(plants) {
    for (const page of pagesOf(plants))
        yield page.reverse();
}
function sortedAsText(a, b) {
    return String(a.id) < String(b.id) ? -1 : 1;
}
function sortedUnsigned(a, b) {
    return BigInt.asUintN(64, a.id) < BigInt.asUintN(64, b.id) ? -1 : 1;
}
function throughNumber(id) {
    const rounded = BigInt(Number(id));
    return rounded > PLANT_ID_MAX ? PLANT_ID_MAX : rounded;
}
/** Repositories, each with the one promise of the port that it breaks. */
export const brokenRepositories = [
    // Ids
    {
        fault: 'an id beyond 2⁵³ is stored rounded to a JavaScript number',
        create: () => new Rewriting(({ id }) => ({ id: throughNumber(id) })),
    },
    {
        fault: 'an id names two plants: ids that round to one JavaScript number count as the same id',
        create: () => new OneNumberOneKey(),
    },
    {
        fault: 'an id is stored as an int32 instead of an int64',
        create: () => new Rewriting(({ id }) => ({ id: BigInt.asIntN(32, id) })),
    },
    {
        fault: 'a negative id is stored without its sign',
        create: () => new Rewriting(({ id }) => (id < 0n ? { id: BigInt.asUintN(63, -id) } : {})),
    },
    // Texts
    {
        fault: 'white space around a name is not kept',
        create: () => new Rewriting(({ name }) => ({ name: name.trim() })),
    },
    {
        fault: 'white space around a tag is not kept',
        create: () => new Rewriting(({ tag }) => ({ tag: tag?.trim() })),
    },
    {
        fault: 'spaces at the end of a name are not kept',
        create: () => new Rewriting(({ name }) => ({ name: name.replace(/ +$/u, '') })),
    },
    {
        fault: 'texts are kept normalised to NFC, not code point for code point',
        create: () => rewritingTexts((text) => text.normalize('NFC')),
    },
    {
        fault: 'code points beyond U+FFFF are kept as U+FFFD',
        create: () => rewritingTexts((text) => text.replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD')),
    },
    {
        fault: 'code points beyond U+00FF are kept as question marks',
        create: () => rewritingTexts((text) => text.replace(/[\u{100}-\u{10FFFF}]/gu, '?')),
    },
    {
        fault: 'U+FEFF at the start of a text is taken for a byte order mark and lost',
        create: () => rewritingTexts((text) => new TextDecoder().decode(new TextEncoder().encode(text))),
    },
    {
        fault: 'carriage returns in a text are not kept',
        create: () => rewritingTexts((text) => text.replaceAll('\r\n', '\n')),
    },
    {
        fault: 'a text is kept only up to its first line feed',
        create: () => rewritingTexts((text) => text.split('\n', 1).join('')),
    },
    {
        fault: 'quotation marks in a text are kept doubled',
        create: () => rewritingTexts((text) => text.replaceAll("'", "''")),
    },
    {
        fault: 'backslashes in a text are not kept',
        create: () => rewritingTexts((text) => text.replaceAll('\\', '')),
    },
    {
        fault: 'a text is kept only up to 255 code points',
        create: () => rewritingTexts((text) => cut(text, 255)),
    },
    {
        fault: 'the empty name, which is any text too, is not kept as empty',
        create: () => new Rewriting(({ name }) => ({ name: name === '' ? ' ' : name })),
    },
    {
        fault: 'an empty tag is kept as no tag',
        create: () => new Rewriting(({ tag }) => ({ tag: tag === '' ? undefined : tag })),
    },
    {
        fault: 'no tag is kept as an empty tag',
        create: () => new Rewriting(({ tag }) => ({ tag: tag ?? '' })),
    },
    {
        fault: 'no tag is kept as the tag "undefined"',
        create: () => new Rewriting(({ tag }) => ({ tag: String(tag) })),
    },
    {
        fault: 'the tag "null" is kept as no tag',
        create: () => new Rewriting(({ tag }) => ({ tag: tag === 'null' ? undefined : tag })),
    },
    // Outcomes
    {
        fault: 'the holder of a taken id is the plant that was to be added, not the one that already holds it',
        create: () => new Misreporting((outcomes, plants) => outcomes.map((outcome, index) => {
            const holder = plants[index];
            return outcome.kind === 'taken' && holder !== undefined ? { kind: 'taken', holder } : outcome;
        })),
    },
    {
        fault: 'the holder of a taken id is told without its tag',
        create: () => new Misreporting((outcomes) => outcomes.map((outcome) => {
            if (outcome.kind !== 'taken')
                return outcome;
            const { id, name } = outcome.holder;
            return { kind: 'taken', holder: plantOf({ id, name }) };
        })),
    },
    {
        fault: 'the holder of a taken id is a bare row, no Plant',
        create: () => new Misreporting((outcomes) => outcomes.map((outcome) => outcome.kind === 'taken' ? { kind: 'taken', holder: rowOf(outcome.holder) } : outcome)),
    },
    {
        fault: 'the outcomes stand with the added ones first, not in the order of the plants',
        create: () => new Misreporting((outcomes) => [
            ...outcomes.filter(({ kind }) => kind === 'added'),
            ...outcomes.filter(({ kind }) => kind !== 'added'),
        ]),
    },
    {
        fault: 'the outcomes stand in the order of the ids, not in the order of the plants',
        create: () => new Misreporting((outcomes, plants) => outcomes
            .map((outcome, index) => ({ outcome, id: plants[index]?.id ?? 0n }))
            .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
            .map(({ outcome }) => outcome)),
    },
    {
        fault: 'of several plants with one id in a batch only the first has an outcome',
        create: () => new Misreporting((outcomes, plants) => outcomes.filter((_, index) => plants.findIndex(({ id }) => id === plants[index]?.id) === index)),
    },
    {
        fault: 'the very same plant, added again, is told as added instead of taken',
        create: () => new Misreporting((outcomes, plants) => outcomes.map((outcome, index) => {
            const plant = plants[index];
            const same = outcome.kind === 'taken' && plant !== undefined && outcome.holder.equals(plant);
            return same ? { kind: 'added' } : outcome;
        })),
    },
    {
        fault: 'a taken id is told as a refused plant',
        create: () => new Misreporting((outcomes) => outcomes.map((outcome) => outcome.kind === 'taken' ? { kind: 'refused', error: new PlantRefused('the id is taken') } : outcome)),
    },
    { fault: 'adding a plant whose id is taken changes the plant that holds it', create: () => new Overwrites() },
    { fault: 'adding a plant whose id is taken gives the holder its missing tag', create: () => new FillsMissingTag() },
    // Batches
    {
        fault: 'of several plants with one id the last in the batch counts as the earlier one',
        create: () => new LastInBatchWins(),
    },
    { fault: 'several plants with one id in one batch are all added', create: () => new AddsTwinsOfOneBatch() },
    { fault: 'a taken plant takes its neighbours along: told as added, not stored', create: () => new TakenRollsBack() },
    { fault: 'the plants after a taken one are not added and have no outcome', create: () => new StopsAtTaken() },
    { fault: "a taken id throws the driver's error instead of an outcome", create: () => new ThrowsAtTaken() },
    {
        fault: 'a refused plant (more than 8,000 characters) throws for the whole batch',
        create: () => new RefusedThrows(),
    },
    {
        fault: 'a refused plant (more than 8,000 characters) has its neighbours refused too',
        create: () => new RefusedRefusesNeighbours(),
    },
    { fault: 'adding no plants throws instead of giving no outcomes', create: () => new ThrowsAtNothing() },
    { fault: 'a batch of more than 1,000 plants throws', create: () => new LimitedBatch(LIMIT) },
    {
        fault: 'a batch of more than 21,845 plants throws, for want of placeholders',
        create: () => new LimitedBatch(Math.floor(PLACEHOLDERS / 3)),
    },
    { fault: 'plants beyond the 1,000th of a batch are told as added, not stored', create: () => new DropsBeyondLimit() },
    // Concurrency and durability
    {
        fault: 'two adds at once of one id are both told as added, and the later changes the plant',
        create: () => new LooksThenWrites(),
    },
    {
        fault: 'adds at once of different ids lose the plants of all but the last',
        create: () => new WritesTheWholeFile(),
    },
    { fault: 'of two adds at once the later is told its own plant as the holder', create: () => new RaceNamesLoser() },
    { fault: 'of two adds at once of one id the later throws StorageUnavailable', create: () => new RaceThrows() },
    { fault: 'add resolves before the added plants are stored', create: () => new WritesBehind() },
    // Reading
    {
        fault: 'readAll goes by the text of the id, not ascending by id',
        create: () => new Misreading((plants) => pagesOf(plants.sort(sortedAsText))),
    },
    {
        fault: 'readAll gives negative ids after positive ones, as if unsigned',
        create: () => new Misreading((plants) => pagesOf(plants.sort(sortedUnsigned))),
    },
    {
        fault: 'readAll goes by the id as a JavaScript number, so that ids beyond 2⁵³ are out of order',
        create: () => new SortsByNumber(),
    },
    { fault: 'readAll goes in the order of arrival, not ascending by id', create: () => new ReadsInOrderOfArrival() },
    {
        fault: 'readAll is ascending within each batch of 100, not from batch to batch',
        create: () => new SortsWithinBatches(),
    },
    {
        fault: 'readAll is ascending from batch to batch, and descending within each batch of 100',
        create: () => new Misreading(descendingBatches),
    },
    {
        fault: 'readAll gives the last plant of each batch of 100 again in the next',
        create: () => new Misreading(pagesRepeatingLast),
    },
    {
        fault: 'readAll leaves out one plant between two batches of 100',
        create: () => new Misreading(pagesSkippingOne),
    },
    {
        fault: 'readAll gives at most 1,000 plants, not every plant',
        create: () => new Misreading((plants) => pagesOf(plants.slice(0, LIMIT))),
    },
    {
        fault: 'readAll leaves out the plant with the smallest id there is',
        create: () => new Misreading((plants) => pagesOf(plants.filter(({ id }) => id > PLANT_ID_MIN))),
    },
    {
        fault: 'readAll leaves out the plant with the largest id there is',
        create: () => new Misreading((plants) => pagesOf(plants.filter(({ id }) => id < PLANT_ID_MAX))),
    },
    {
        fault: 'readAll leaves out plants with negative ids',
        create: () => new Misreading((plants) => pagesOf(plants.filter(({ id }) => id >= 0n))),
    },
    {
        fault: 'readAll leaves out the plant with the id 0',
        create: () => new Misreading((plants) => pagesOf(plants.filter(({ id }) => id !== 0n))),
    },
    {
        fault: 'readAll gives bare rows, no Plants',
        create: () => new Misreading((plants) => pagesOf(plants.map(rowOf))),
    },
    {
        fault: 'readAll gives every batch of 100 in one array, which the next batch overwrites',
        create: () => new Misreading(pagesInOneArray),
    },
    {
        fault: 'readAll hands out its own array, so that who changes a batch changes what is read later',
        create: () => new HandsOutItsIndex(),
    },
    {
        fault: 'a plant added while reading, with a smaller id, has a plant given twice at the next batch of 100',
        create: () => new PagesByOffset(),
    },
    { fault: 'two readings at once share their place, so that both leave plants out', create: () => new SharesCursor() },
    { fault: 'a second reading leaves out what an earlier one gave', create: () => new ReadsOnce() },
    { fault: 'plants cannot be added while reading: StorageUnavailable', create: () => new LockedWhileRead() },
    {
        fault: 'after a reading that was broken off every call throws StorageUnavailable',
        create: () => new LeaksAbandonedReader(),
    },
    // Closing
    { fault: 'readAll after close throws when called, not while iterating', create: () => new ReadThrowsAtCall() },
    {
        fault: "add after close throws the driver's error, not StorageUnavailable",
        create: () => new DriverErrorFromAdd(),
    },
    {
        fault: "readAll after close throws the driver's error, not StorageUnavailable",
        create: () => new DriverErrorFromReadAll(),
    },
    {
        fault: "ready after close throws the driver's error, not StorageUnavailable",
        create: () => new DriverErrorFromReady(),
    },
    { fault: 'add after close still adds', create: () => new AddsAfterClose() },
    { fault: 'adding no plants after close does not throw', create: () => new AddsNothingAfterClose() },
    { fault: 'readAll after close gives no plants instead of throwing', create: () => new ReadsEmptyAfterClose() },
    { fault: 'ready after close resolves', create: () => new AlwaysReady() },
    { fault: 'calls after close open the storage again', create: () => new ReopensOnUse() },
    { fault: 'closing again throws instead of doing nothing', create: () => new ClosesOnce() },
    { fault: 'close does not finish an add under way: it throws StorageUnavailable', create: () => new CloseCutsAdd() },
    { fault: 'close resolves before an add under way has resolved', create: () => new CloseDoesNotWait() },
    {
        fault: 'close ends a reading under way after a batch of 100 as if it were complete',
        create: () => new CloseEndsReading(),
    },
];
/** Who a valid token stands for. */
const PRINCIPAL = { subject: 'gardener' };
/** A verifier that answers with `verify`. */
function verifier(verify) {
    return { verify: async (token) => verify(token) };
}
/** A verifier that has {@link PRINCIPAL} in for each token that is `valid`. */
function admitting(valid) {
    return verifier((token) => (valid(token) ? PRINCIPAL : undefined));
}
/** A verifier that names the principal by its token. */
function naming(validToken, subject) {
    return verifier((token) => (token === validToken ? { subject: subject(token) } : undefined));
}
/** A verifier that throws for every token that is not valid. */
function throwing(validToken, error) {
    return verifier((token) => {
        if (token === validToken)
            return PRINCIPAL;
        throw error();
    });
}
class MixesUpCalls {
    #validToken;
    #token = '';
    constructor(validToken) {
        this.#validToken = validToken;
    }
    async verify(token) {
        this.#token = token;
        await nextTurn();
        return this.#token === this.#validToken ? PRINCIPAL : undefined;
    }
}
/** Verifiers that take `validToken` for valid, each with the one promise of the port that it breaks. */
export const brokenVerifiers = [
    {
        fault: 'a token that differs from a valid one in case has a principal',
        create: (validToken) => admitting((token) => token.toLowerCase() === validToken.toLowerCase()),
    },
    {
        fault: 'a valid token with white space around it has a principal',
        create: (validToken) => admitting((token) => token.trim() === validToken),
    },
    {
        fault: 'a token that goes on after a valid one has a principal',
        create: (validToken) => admitting((token) => token.startsWith(validToken)),
    },
    {
        fault: 'the beginning of a valid token has a principal',
        create: (validToken) => admitting((token) => token !== '' && validToken.startsWith(token)),
    },
    {
        fault: 'the empty token has a principal',
        create: (validToken) => admitting((token) => token === '' || token === validToken),
    },
    {
        fault: 'a valid token sent with its scheme has a principal',
        create: (validToken) => admitting((token) => token.replace(/^Bearer /iu, '') === validToken),
    },
    {
        fault: 'a token that is not valid throws an error instead of giving undefined',
        create: (validToken) => throwing(validToken, () => new Error('the token is not valid')),
    },
    {
        fault: 'a token that is not valid throws TokenIssuerUnavailable instead of giving undefined',
        create: (validToken) => throwing(validToken, () => new TokenIssuerUnavailable('the issuer does not answer')),
    },
    {
        fault: 'a token of another length than a valid one throws instead of giving undefined',
        create: (validToken) => admitting((token) => timingSafeEqual(Buffer.from(token), Buffer.from(validToken))),
    },
    {
        fault: 'a token that is not Base64 throws instead of giving undefined',
        create: (validToken) => verifier((token) => {
            if (token === validToken)
                return PRINCIPAL;
            atob(token);
            return undefined;
        }),
    },
    {
        fault: 'a token that is not valid gives null instead of undefined',
        create: (validToken) => verifier((token) => (token === validToken ? PRINCIPAL : null)),
    },
    {
        fault: 'a token that is not valid gives a principal without a name instead of undefined',
        create: (validToken) => verifier((token) => (token === validToken ? PRINCIPAL : { subject: '' })),
    },
    {
        fault: 'the subject is the token',
        create: (validToken) => naming(validToken, (token) => token),
    },
    {
        fault: 'the subject reveals the first eight characters of the token',
        create: (validToken) => naming(validToken, (token) => `token ${token.slice(0, 8)}…`),
    },
    {
        fault: 'the subject reveals the last four characters of the token',
        create: (validToken) => naming(validToken, (token) => `token …${token.slice(-4)}`),
    },
    {
        fault: 'the subject reveals the token in Base64',
        create: (validToken) => naming(validToken, (token) => Buffer.from(token).toString('base64')),
    },
    {
        fault: 'the subject of a valid token is empty, no name',
        create: (validToken) => naming(validToken, () => ''),
    },
    {
        fault: 'a valid token stands for another principal at every call',
        create: (validToken) => {
            let calls = 0;
            return naming(validToken, () => `caller ${++calls}`);
        },
    },
    {
        fault: 'a valid token is valid only once',
        create: (validToken) => {
            let used = false;
            return admitting((token) => {
                if (token !== validToken || used)
                    return false;
                used = true;
                return true;
            });
        },
    },
    {
        fault: 'after a valid token every token has its principal',
        create: (validToken) => {
            let known = false;
            return admitting((token) => {
                known ||= token === validToken;
                return known;
            });
        },
    },
    {
        fault: 'after a token that is not valid the valid one has no principal',
        create: (validToken) => {
            let locked = false;
            return admitting((token) => {
                locked ||= token !== validToken;
                return !locked;
            });
        },
    },
    {
        fault: 'of two calls at once the earlier has the answer of the later',
        create: (validToken) => new MixesUpCalls(validToken),
    },
];
//# sourceMappingURL=broken-by-documentation.js.map