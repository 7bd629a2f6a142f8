/** Broken adapters with a disk or an issuer, derived from the contract cases: each has one fault. */
import {
  type AddOutcome,
  Plant,
  type PlantRepository,
  StorageUnavailable,
  TokenIssuerUnavailable,
  type TokenVerifier,
} from '../../core/index.js';
import { toPlant } from '../support/plants.js';

/** Storage that survives its repository and can become unavailable. */
export interface Disk {
  readonly plants: Map<bigint, Plant>;
  isUnavailable: boolean;
}

/** Issuer that can become unavailable. */
export interface Issuer {
  readonly validToken: string;
  isUnavailable: boolean;
}

/** An error that a driver throws. */
class DriverError extends Error {}

const BATCH_SIZE = 1000;

/** A correct repository on a disk. */
export class DiskRepository implements PlantRepository {
  protected readonly disk: Disk;
  protected closed = false;

  constructor(disk: Disk) {
    this.disk = disk;
  }

  async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    this.assertAvailable();
    Plant.assertAll(plants);
    return plants.map((plant) => this.addOne(plant));
  }

  protected addOne(plant: Plant): AddOutcome {
    const holder = this.disk.plants.get(plant.id);
    if (holder !== undefined) return { kind: 'taken', holder };
    this.disk.plants.set(plant.id, plant);
    return { kind: 'added' };
  }

  async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertAvailable();
    const plants = this.sorted();
    for (let start = 0; start < plants.length; start += BATCH_SIZE) {
      this.assertAvailable();
      yield plants.slice(start, start + BATCH_SIZE);
    }
  }

  protected sorted(): Plant[] {
    return [...this.disk.plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  async ready(): Promise<void> {
    this.assertAvailable();
  }

  async close(): Promise<void> {
    this.closed = true;
  }

  protected assertAvailable(): void {
    if (this.closed || this.disk.isUnavailable) throw new StorageUnavailable('the disk is unavailable');
  }
}

class WritesOnClose extends DiskRepository {
  readonly #target: Disk;

  constructor(disk: Disk) {
    super({ plants: new Map(disk.plants), isUnavailable: false });
    this.#target = disk;
  }

  override async close(): Promise<void> {
    for (const [id, plant] of this.disk.plants) this.#target.plants.set(id, plant);
    await super.close();
  }
}

class WritesNothing extends DiskRepository {
  constructor(disk: Disk) {
    super({ plants: new Map(disk.plants), isUnavailable: false });
  }
}

class TrimsWhenWriting extends DiskRepository {
  readonly #target: Disk;

  constructor(disk: Disk) {
    super({ plants: new Map(disk.plants), isUnavailable: false });
    this.#target = disk;
  }

  protected override addOne(plant: Plant): AddOutcome {
    const { id, name, tag } = plant;
    this.#target.plants.set(id, toPlant({ id, name: name.trimEnd(), tag }));
    return super.addOne(plant);
  }
}

class ForgetsIdsAtReopening extends DiskRepository {
  readonly #known = new Set<bigint>();

  protected override addOne(plant: Plant): AddOutcome {
    const outcome = super.addOne(plant);
    if (this.#known.has(plant.id)) return outcome;
    this.#known.add(plant.id);
    return { kind: 'added' };
  }
}

/** Logs every plant, including taken ones, and keeps the last one per id when it reads the log. */
class KeepsLastOfLog extends DiskRepository {
  readonly #log: Disk;

  constructor(log: Disk) {
    super({ plants: new Map(log.plants), isUnavailable: false });
    this.#log = log;
  }

  protected override addOne(plant: Plant): AddOutcome {
    this.#log.plants.set(plant.id, plant);
    return super.addOne(plant);
  }
}

class TruncatesAtFirstWrite extends DiskRepository {
  #isFirstWrite = true;

  override add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.#isFirstWrite && plants.every(({ id }) => !this.disk.plants.has(id))) this.disk.plants.clear();
    this.#isFirstWrite = false;
    return super.add(plants);
  }
}

class SortsBatchOfCaller extends DiskRepository {
  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    const order = [...plants];
    const outcomes = await super.add(plants);
    order.sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const [index, plant] of order.entries()) Reflect.set(plants, index, plant);
    return outcomes;
  }
}

class AddThrowsDriverError extends DiskRepository {
  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.disk.isUnavailable) throw new DriverError('ECONNRESET');
    return super.add(plants);
  }
}

class ReadsNothingInOutage extends DiskRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    if (!this.disk.isUnavailable) yield* super.readAll();
  }
}

class ReadEndsInOutage extends DiskRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertAvailable();
    for await (const batch of super.readAll()) {
      yield batch;
      if (this.disk.isUnavailable) return;
    }
  }
}

class AlwaysReady extends DiskRepository {
  override async ready(): Promise<void> {
    if (this.closed) this.assertAvailable();
  }
}

class NeverRecovers extends DiskRepository {
  #hasFailed = false;

  protected override assertAvailable(): void {
    this.#hasFailed ||= this.disk.isUnavailable;
    if (this.#hasFailed) throw new StorageUnavailable('the connection was lost');
    super.assertAvailable();
  }
}

/** Caches the plants of failed writes. */
class CachesFailedWrites extends DiskRepository {
  readonly #cache = new Map<bigint, Plant>();

  override async add(plants: readonly Plant[]): Promise<readonly AddOutcome[]> {
    if (this.disk.isUnavailable) for (const plant of plants) this.#cache.set(plant.id, plant);
    return super.add(plants);
  }

  protected override addOne(plant: Plant): AddOutcome {
    const holder = this.#cache.get(plant.id);
    return holder === undefined ? super.addOne(plant) : { kind: 'taken', holder };
  }
}

class CloseThrowsInOutage extends DiskRepository {
  override async close(): Promise<void> {
    if (this.disk.isUnavailable && !this.closed) throw new DriverError('ECONNREFUSED');
    await super.close();
  }
}

const RECOVERY_CASE = 'recovers from an outage, and a retry finds out which plants were stored';

/** Broken adapters, each with the contract case that must catch it. */
export const brokenOnDisk: readonly {
  readonly fault: string;
  readonly caughtBy: string;
  open(disk: Disk): PlantRepository;
}[] = [
  {
    fault: 'sorts the batch of the caller',
    caughtBy: 'does not modify the batch',
    open: (disk) => new SortsBatchOfCaller(disk),
  },
  {
    fault: 'writes nothing',
    caughtBy: 'returns every plant unchanged after reopening',
    open: (disk) => new WritesNothing(disk),
  },
  {
    fault: 'trims the end of names when writing',
    caughtBy: 'returns every plant unchanged after reopening',
    open: (disk) => new TrimsWhenWriting(disk),
  },
  {
    fault: 'writes only on close',
    caughtBy: 'returns every added plant after a crash',
    open: (disk) => new WritesOnClose(disk),
  },
  {
    fault: 'returns added for taken ids after reopening',
    caughtBy: 'returns the same holder of an id after reopening',
    open: (disk) => new ForgetsIdsAtReopening(disk),
  },
  {
    fault: 'after reopening, gives an id to the last plant that used it',
    caughtBy: 'returns the same holder of an id after reopening',
    open: (disk) => new KeepsLastOfLog(disk),
  },
  {
    fault: 'truncates the file at the first write after reopening',
    caughtBy: 'adds plants after each reopening',
    open: (disk) => new TruncatesAtFirstWrite(disk),
  },
  {
    fault: "add throws the driver's error during an outage",
    caughtBy: 'add throws StorageUnavailable during an outage',
    open: (disk) => new AddThrowsDriverError(disk),
  },
  {
    fault: 'readAll reads nothing during an outage',
    caughtBy: 'readAll reads every plant or throws StorageUnavailable during an outage',
    open: (disk) => new ReadsNothingInOutage(disk),
  },
  {
    fault: 'readAll ends at an outage as if it were complete',
    caughtBy: 'a reader reads every plant or throws StorageUnavailable when an outage starts',
    open: (disk) => new ReadEndsInOutage(disk),
  },
  {
    fault: 'ready resolves without checking the storage',
    caughtBy: 'ready resolves during an outage only if plants can be read and no add failed',
    open: (disk) => new AlwaysReady(disk),
  },
  {
    fault: 'does not recover from an outage',
    caughtBy: RECOVERY_CASE,
    open: (disk) => new NeverRecovers(disk),
  },
  {
    fault: 'returns taken for a plant whose write failed',
    caughtBy: RECOVERY_CASE,
    open: (disk) => new CachesFailedWrites(disk),
  },
  {
    fault: "close throws the driver's error during an outage",
    caughtBy: 'close succeeds during an outage',
    open: (disk) => new CloseThrowsInOutage(disk),
  },
];

const ISSUER_CASE = 'throws TokenIssuerUnavailable while it cannot reach its issuer, and recovers afterwards';

/** A correct verifier. */
export class IssuerVerifier implements TokenVerifier {
  readonly #issuer: Issuer;

  constructor(issuer: Issuer) {
    this.#issuer = issuer;
  }

  async verify(token: string) {
    if (this.#issuer.isUnavailable) throw new TokenIssuerUnavailable('the issuer is unavailable');
    return token === this.#issuer.validToken ? { subject: 'gardener' } : undefined;
  }
}

class RejectsTokensInOutage extends IssuerVerifier {
  override verify(token: string) {
    return super.verify(token).catch(() => undefined);
  }
}

class ThrowsDriverErrorInOutage extends IssuerVerifier {
  override verify(token: string) {
    return super.verify(token).catch(() => {
      throw new DriverError('ECONNREFUSED');
    });
  }
}

class NeverRetries extends IssuerVerifier {
  #failure: unknown;

  override async verify(token: string) {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      return await super.verify(token);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }
}

/** Broken adapters, each with the contract case that must catch it. */
export const brokenWithIssuer: readonly {
  readonly fault: string;
  readonly caughtBy: string;
  create(issuer: Issuer): TokenVerifier;
}[] = [
  {
    fault: 'returns undefined during an outage of the issuer',
    caughtBy: ISSUER_CASE,
    create: (issuer) => new RejectsTokensInOutage(issuer),
  },
  {
    fault: "throws the driver's error during an outage of the issuer",
    caughtBy: ISSUER_CASE,
    create: (issuer) => new ThrowsDriverErrorInOutage(issuer),
  },
  {
    fault: 'does not retry the issuer after an outage',
    caughtBy: ISSUER_CASE,
    create: (issuer) => new NeverRetries(issuer),
  },
];
