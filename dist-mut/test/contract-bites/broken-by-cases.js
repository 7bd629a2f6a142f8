/** Adapters that are each wrong in one way, written beside the cases: faults that only reopening or an outage shows. */
import { Plant, StorageUnavailable, TokenIssuerUnavailable, } from '../../core/index.js';
/** What a driver throws of its own accord. */
class DriverError extends Error {
}
const PAGE_SIZE = 1000;
/** The right one. */
export class DiskRepository {
    disk;
    closed = false;
    constructor(disk) {
        this.disk = disk;
    }
    async add(plants) {
        this.assertThere();
        return plants.map((plant) => this.addOne(plant));
    }
    addOne(plant) {
        const holder = this.disk.plants.get(plant.id);
        if (holder !== undefined)
            return { kind: 'taken', holder };
        this.disk.plants.set(plant.id, plant);
        return { kind: 'added' };
    }
    async *readAll() {
        this.assertThere();
        const plants = this.sorted();
        for (let start = 0; start < plants.length; start += PAGE_SIZE) {
            this.assertThere();
            yield plants.slice(start, start + PAGE_SIZE);
        }
    }
    sorted() {
        return [...this.disk.plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
    }
    async ready() {
        this.assertThere();
    }
    async close() {
        this.closed = true;
    }
    assertThere() {
        if (this.closed || this.disk.isAway)
            throw new StorageUnavailable('the disk is not there');
    }
}
class WritesAtClose extends DiskRepository {
    #target;
    constructor(disk) {
        super({ plants: new Map(disk.plants), isAway: false });
        this.#target = disk;
    }
    async close() {
        for (const [id, plant] of this.disk.plants)
            this.#target.plants.set(id, plant);
        await super.close();
    }
}
class WritesNothing extends DiskRepository {
    constructor(disk) {
        super({ plants: new Map(disk.plants), isAway: false });
    }
}
class WritesTrimmed extends DiskRepository {
    #target;
    constructor(disk) {
        super({ plants: new Map(disk.plants), isAway: false });
        this.#target = disk;
    }
    addOne(plant) {
        const { id, name, tag } = plant;
        const trimmed = Plant.from({ id, name: name.trimEnd(), tag });
        if (trimmed instanceof Plant)
            this.#target.plants.set(id, trimmed);
        return super.addOne(plant);
    }
}
class ForgetsIdsAtReopening extends DiskRepository {
    #known = new Set();
    addOne(plant) {
        const outcome = super.addOne(plant);
        if (this.#known.has(plant.id))
            return outcome;
        this.#known.add(plant.id);
        return { kind: 'added' };
    }
}
/** Writes those that were taken into its log, too, and takes the last one of an id when it reads the log again. */
class LastLineWins extends DiskRepository {
    #log;
    constructor(log) {
        super({ plants: new Map(log.plants), isAway: false });
        this.#log = log;
    }
    addOne(plant) {
        this.#log.plants.set(plant.id, plant);
        return super.addOne(plant);
    }
}
class CutsFileAtFirstWrite extends DiskRepository {
    #isFirst = true;
    add(plants) {
        if (this.#isFirst && plants.every(({ id }) => !this.disk.plants.has(id)))
            this.disk.plants.clear();
        this.#isFirst = false;
        return super.add(plants);
    }
}
class SortsTheGivenBatch extends DiskRepository {
    async add(plants) {
        const order = [...plants];
        const outcomes = await super.add(plants);
        order.sort((a, b) => (a.id < b.id ? -1 : 1));
        for (const [index, plant] of order.entries())
            Reflect.set(plants, index, plant);
        return outcomes;
    }
}
class AddThrowsDriverError extends DiskRepository {
    async add(plants) {
        if (this.disk.isAway)
            throw new DriverError('ECONNRESET');
        return super.add(plants);
    }
}
class ReadsNothingInOutage extends DiskRepository {
    async *readAll() {
        if (!this.disk.isAway)
            yield* super.readAll();
    }
}
class ReadEndsInOutage extends DiskRepository {
    async *readAll() {
        this.assertThere();
        for await (const page of super.readAll()) {
            yield page;
            if (this.disk.isAway)
                return;
        }
    }
}
class AlwaysReady extends DiskRepository {
    async ready() {
        if (this.closed)
            this.assertThere();
    }
}
class NeverComesBack extends DiskRepository {
    #hasFailed = false;
    assertThere() {
        this.#hasFailed ||= this.disk.isAway;
        if (this.#hasFailed)
            throw new StorageUnavailable('the connection was lost');
        super.assertThere();
    }
}
/** Remembers a plant before it is written, and tells of it as taken where the write failed. */
class RemembersWhatFailed extends DiskRepository {
    #cache = new Map();
    async add(plants) {
        if (this.disk.isAway)
            for (const plant of plants)
                this.#cache.set(plant.id, plant);
        return super.add(plants);
    }
    addOne(plant) {
        const holder = this.#cache.get(plant.id);
        return holder === undefined ? super.addOne(plant) : { kind: 'taken', holder };
    }
}
class CannotBeClosedInOutage extends DiskRepository {
    async close() {
        if (this.disk.isAway && !this.closed)
            throw new DriverError('ECONNREFUSED');
        await super.close();
    }
}
const WORKS_AGAIN = 'works again when the storage is back, and adding the same plants again finds out what became of them';
/** Each with the case that must catch it. */
export const brokenOnDisk = [
    {
        fault: 'it sorts the batch of its caller',
        caughtBy: 'leaves the batch as it was given',
        open: (disk) => new SortsTheGivenBatch(disk),
    },
    {
        fault: 'it writes nothing',
        caughtBy: 'what was added is there after reopening, exact in id and text',
        open: (disk) => new WritesNothing(disk),
    },
    {
        fault: 'it writes texts without the blanks at their end',
        caughtBy: 'what was added is there after reopening, exact in id and text',
        open: (disk) => new WritesTrimmed(disk),
    },
    {
        fault: 'it writes only when it is closed',
        caughtBy: 'what was answered is there though it was never closed, as after a crash',
        open: (disk) => new WritesAtClose(disk),
    },
    {
        fault: 'after reopening it tells of taken ids as added',
        caughtBy: 'an id is held by the same plant after reopening, whoever asked for it before',
        open: (disk) => new ForgetsIdsAtReopening(disk),
    },
    {
        fault: 'after reopening the last plant that asked for an id holds it',
        caughtBy: 'an id is held by the same plant after reopening, whoever asked for it before',
        open: (disk) => new LastLineWins(disk),
    },
    {
        fault: 'the first write after reopening empties the file',
        caughtBy: 'goes on adding after each reopening',
        open: (disk) => new CutsFileAtFirstWrite(disk),
    },
    {
        fault: "add throws the driver's error in an outage",
        caughtBy: 'add throws StorageUnavailable while the storage is away',
        open: (disk) => new AddThrowsDriverError(disk),
    },
    {
        fault: 'it reads nothing in an outage, as if the store were empty',
        caughtBy: 'readAll reads every plant or throws StorageUnavailable while the storage is away',
        open: (disk) => new ReadsNothingInOutage(disk),
    },
    {
        fault: 'an outage ends a reading as if it were complete',
        caughtBy: 'a reader whose storage goes away reads every plant or throws StorageUnavailable',
        open: (disk) => new ReadEndsInOutage(disk),
    },
    {
        fault: 'it is ready without asking the storage',
        caughtBy: 'is ready while the storage is away only if it can read, else ready throws StorageUnavailable',
        open: (disk) => new AlwaysReady(disk),
    },
    {
        fault: 'it does not come back after an outage',
        caughtBy: WORKS_AGAIN,
        open: (disk) => new NeverComesBack(disk),
    },
    {
        fault: 'it tells of a plant as taken whose write had failed',
        caughtBy: WORKS_AGAIN,
        open: (disk) => new RemembersWhatFailed(disk),
    },
    {
        fault: "close throws the driver's error in an outage",
        caughtBy: 'can be closed while the storage is away',
        open: (disk) => new CannotBeClosedInOutage(disk),
    },
];
const ISSUER_CASE = 'throws TokenIssuerUnavailable where it never reached its issuer, and recovers when the issuer is back';
/** The right one. */
export class AskingVerifier {
    #issuer;
    constructor(issuer) {
        this.#issuer = issuer;
    }
    async verify(token) {
        if (this.#issuer.isAway)
            throw new TokenIssuerUnavailable('the issuer does not answer');
        return token === this.#issuer.validToken ? { subject: 'gardener' } : undefined;
    }
}
class RefusesInOutage extends AskingVerifier {
    verify(token) {
        return super.verify(token).catch(() => undefined);
    }
}
class ThrowsDriverErrorInOutage extends AskingVerifier {
    verify(token) {
        return super.verify(token).catch(() => {
            throw new DriverError('ECONNREFUSED');
        });
    }
}
class NeverAsksAgain extends AskingVerifier {
    #failure;
    async verify(token) {
        if (this.#failure !== undefined)
            throw this.#failure;
        try {
            return await super.verify(token);
        }
        catch (error) {
            this.#failure = error;
            throw error;
        }
    }
}
/** Each with the case that must catch it. */
export const brokenWithIssuer = [
    {
        fault: 'it knows nobody in an outage of the issuer',
        caughtBy: ISSUER_CASE,
        create: (issuer) => new RefusesInOutage(issuer),
    },
    {
        fault: "it throws the driver's error in an outage of the issuer",
        caughtBy: ISSUER_CASE,
        create: (issuer) => new ThrowsDriverErrorInOutage(issuer),
    },
    {
        fault: 'it does not ask the issuer again after an outage',
        caughtBy: ISSUER_CASE,
        create: (issuer) => new NeverAsksAgain(issuer),
    },
];
//# sourceMappingURL=broken-by-cases.js.map