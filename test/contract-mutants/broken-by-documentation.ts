/**
 * Broken adapters, derived from the doc comments of the ports, not from the contracts: each has one fault. If one
 * passes, its contract has a gap.
 */
import { timingSafeEqual } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import {
  type AddOutcome,
  MAX_PLANT_ID,
  MIN_PLANT_ID,
  type NewPlant,
  type Plant,
  PlantRejected,
  type PlantRepository,
  type Principal,
  StorageUnavailable,
  TokenIssuerUnavailable,
  type TokenVerifier,
} from '../../core/index.js';
import { toPlant } from '../support/plants.js';
import { readPlants } from '../support/read-plants.js';

/** Maximum number of plants per batch of a reader. */
const BATCH_SIZE = 100;

/** Maximum number of plants for the adapters that have a limit. */
const MAX_PLANTS = 1000;

/** Maximum number of placeholders in a PostgreSQL statement. */
const MAX_PLACEHOLDERS = 65_535;

/** An error that a driver throws. */
class DriverError extends Error {}

/** Splits `plants` into batches of at most {@link BATCH_SIZE}. */
function* toBatches(plants: readonly Plant[]): Generator<Plant[]> {
  for (let from = 0; from < plants.length; from += BATCH_SIZE) yield plants.slice(from, from + BATCH_SIZE);
}

function ascending(a: Plant, b: Plant): number {
  return a.id < b.id ? -1 : 1;
}

/** Truncates `text` to `length` code points. */
function truncate(text: string, length: number): string {
  return [...text].slice(0, length).join('');
}

/** A repository without `Plant.assertAll`. Subclasses can access its rows and track pending calls. */
class RowRepository implements PlantRepository {
  protected rows = new Map<bigint, Plant>();
  protected closed = false;
  readonly #pending = new Set<Promise<unknown>>();

  async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    return plants.map((plant) => this.addOne(plant));
  }

  async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertOpen();
    yield* toBatches(this.sorted());
  }

  async ready(): Promise<void> {
    this.assertOpen();
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.#pending);
  }

  protected addOne(plant: Plant): AddOutcome {
    const holder = this.rows.get(plant.id);
    if (holder !== undefined) return { kind: 'taken', holder };
    this.rows.set(plant.id, plant);
    return { kind: 'added' };
  }

  protected sorted(): Plant[] {
    return [...this.rows.values()].sort(ascending);
  }

  protected assertOpen(): void {
    if (this.closed) throw new StorageUnavailable('the repository is closed');
  }

  /** Makes `close` wait for `work`. */
  protected async track<T>(work: Promise<T>): Promise<T> {
    this.#pending.add(work);
    try {
      return await work;
    } finally {
      this.#pending.delete(work);
    }
  }
}

/** Stores modified plants. */
class Rewriting extends MemoryPlantRepository {
  readonly #change: (plant: Plant) => Partial<NewPlant>;

  constructor(change: (plant: Plant) => Partial<NewPlant>) {
    super();
    this.#change = change;
  }

  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return super.add(
      plants.map((plant) => {
        const { id, name, tag } = plant;
        return toPlant({ id, name, tag, ...this.#change(plant) });
      }),
    );
  }
}

/** Creates a repository that stores modified names and tags. */
function rewritingTexts(change: (text: string) => string): PlantRepository {
  return new Rewriting(({ name, tag }) => ({ name: change(name), tag: tag === undefined ? undefined : change(tag) }));
}

/** Stores correctly but returns modified outcomes. */
class Misreporting extends MemoryPlantRepository {
  readonly #modify: (outcomes: AddOutcome[], plants: readonly Plant[]) => AddOutcome[];

  constructor(modify: (outcomes: AddOutcome[], plants: readonly Plant[]) => AddOutcome[]) {
    super();
    this.#modify = modify;
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return this.#modify(await super.add(plants), plants);
  }
}

/** Stores correctly but returns modified batches to readers. */
class Misreading extends MemoryPlantRepository {
  readonly #modify: (plants: Plant[]) => Iterable<readonly Plant[]>;

  constructor(modify: (plants: Plant[]) => Iterable<readonly Plant[]>) {
    super();
    this.#modify = modify;
  }

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    yield* this.#modify(await readPlants(super.readAll()));
  }
}

class KeysByNumber extends RowRepository {
  readonly #byNumber = new Map<number, Plant>();

  protected override addOne(plant: Plant): AddOutcome {
    const holder = this.#byNumber.get(Number(plant.id));
    if (holder !== undefined) return { kind: 'taken', holder };
    this.#byNumber.set(Number(plant.id), plant);
    return super.addOne(plant);
  }
}

class ReadsInInsertionOrder extends RowRepository {
  protected override sorted(): Plant[] {
    return [...this.rows.values()];
  }
}

class SortsByNumber extends RowRepository {
  protected override sorted(): Plant[] {
    return [...this.rows.values()].sort((a, b) => Number(a.id) - Number(b.id));
  }
}

class SortsWithinBatches extends RowRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertOpen();
    for (const batch of toBatches([...this.rows.values()])) yield batch.sort(ascending);
  }
}

class Overwrites extends RowRepository {
  protected override addOne(plant: Plant): AddOutcome {
    const outcome = super.addOne(plant);
    this.rows.set(plant.id, plant);
    return outcome;
  }
}

class FillsMissingTag extends RowRepository {
  protected override addOne(plant: Plant): AddOutcome {
    const outcome = super.addOne(plant);
    if (outcome.kind !== 'taken' || outcome.holder.tag !== undefined) return outcome;
    const { id, name } = outcome.holder;
    this.rows.set(id, toPlant({ id, name, tag: plant.tag }));
    return outcome;
  }
}

class LastInBatchWins extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return (await super.add(plants.toReversed())).reverse();
  }
}

class AddsDuplicatesOfOneBatch extends RowRepository {
  readonly #duplicates: Plant[] = [];

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    const before = new Set(this.rows.keys());
    return plants.map((plant): AddOutcome => {
      const outcome = this.addOne(plant);
      if (outcome.kind !== 'taken' || before.has(plant.id)) return outcome;
      this.#duplicates.push(plant);
      return { kind: 'added' };
    });
  }

  protected override sorted(): Plant[] {
    return [...super.sorted(), ...this.#duplicates].sort(ascending);
  }
}

class RollsBackAtTaken extends RowRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const before = new Map(this.rows);
    const outcomes = await super.add(plants);
    if (outcomes.some(({ kind }) => kind === 'taken')) this.rows = before;
    return outcomes;
  }
}

class StopsAtTaken extends RowRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    const outcomes: AddOutcome[] = [];
    for (const plant of plants) {
      const outcome = this.addOne(plant);
      outcomes.push(outcome);
      if (outcome.kind === 'taken') break;
    }
    return outcomes;
  }
}

class ThrowsAtTaken extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const outcomes = await super.add(plants);
    if (outcomes.some(({ kind }) => kind === 'taken')) throw new DriverError('duplicate key');
    return outcomes;
  }
}

class ThrowsPlantRejected extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    await this.ready();
    if (plants.some(({ name, tag = '' }) => name.length + tag.length > 8000)) throw new PlantRejected('too long');
    return super.add(plants);
  }
}

class RejectsWholeBatch extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    await this.ready();
    if (!plants.some(({ name, tag = '' }) => name.length + tag.length > 8000)) return super.add(plants);
    return plants.map(() => ({ kind: 'rejected', error: new PlantRejected('too long') }));
  }
}

class ThrowsForEmptyBatch extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    await this.ready();
    if (plants.length === 0) throw new DriverError('syntax error at end of input');
    return super.add(plants);
  }
}

class LimitedBatch extends MemoryPlantRepository {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    await this.ready();
    if (plants.length > this.#limit) throw new DriverError('too many parameters');
    return super.add(plants);
  }
}

class DropsBeyondLimit extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const outcomes = await super.add(plants.slice(0, MAX_PLANTS));
    return plants.map((_, index) => outcomes[index] ?? { kind: 'added' });
  }
}

class ReadsThenWrites extends RowRepository {
  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return this.track(this.#add(plants));
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    const seen = new Map(this.rows);
    await nextTurn();
    return plants.map((plant) => {
      const holder = seen.get(plant.id);
      if (holder !== undefined) return { kind: 'taken', holder };
      seen.set(plant.id, plant);
      this.rows.set(plant.id, plant);
      return { kind: 'added' };
    });
  }
}

class WritesWholeFile extends RowRepository {
  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return this.track(this.#add(plants));
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    const file = new Map(this.rows);
    await nextTurn();
    const outcomes = plants.map((plant): AddOutcome => {
      const holder = this.rows.get(plant.id) ?? file.get(plant.id);
      if (holder !== undefined) return { kind: 'taken', holder };
      file.set(plant.id, plant);
      return { kind: 'added' };
    });
    this.rows = file;
    return outcomes;
  }
}

class ReturnsLoserAsHolder extends RowRepository {
  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return this.track(this.#add(plants));
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    const seen = new Map(this.rows);
    await nextTurn();
    return plants.map((plant) => {
      const outcome = this.addOne(plant);
      if (outcome.kind === 'added') seen.set(plant.id, plant);
      return outcome.kind === 'taken' ? { kind: 'taken', holder: seen.get(plant.id) ?? plant } : outcome;
    });
  }
}

class ThrowsInRace extends RowRepository {
  readonly #locked = new Set<bigint>();

  override add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return this.track(this.#add(plants));
  }

  async #add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    if (plants.some(({ id }) => this.#locked.has(id))) throw new StorageUnavailable('could not serialize access');
    for (const { id } of plants) this.#locked.add(id);
    await nextTurn();
    for (const { id } of plants) this.#locked.delete(id);
    return plants.map((plant) => this.addOne(plant));
  }
}

class WritesBehind extends RowRepository {
  readonly #durable = new Set<bigint>();

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const outcomes = await super.add(plants);
    void this.track(this.#flush(plants));
    return outcomes;
  }

  async #flush(plants: readonly Plant[]): Promise<void> {
    await nextTurn();
    for (const { id } of plants) this.#durable.add(id);
  }

  protected override sorted(): Plant[] {
    return super.sorted().filter(({ id }) => this.#durable.has(id));
  }
}

class PagesByOffset extends RowRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertOpen();
    for (let offset = 0; ; offset += BATCH_SIZE) {
      const batch = this.sorted().slice(offset, offset + BATCH_SIZE);
      if (batch.length === 0) return;
      yield batch;
    }
  }
}

class SharesCursor extends RowRepository {
  #offset = 0;

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertOpen();
    const plants = this.sorted();
    this.#offset = 0;
    while (this.#offset < plants.length) {
      const batch = plants.slice(this.#offset, this.#offset + BATCH_SIZE);
      this.#offset += BATCH_SIZE;
      yield batch;
    }
  }
}

class ReadsOnce extends RowRepository {
  readonly #read = new Set<bigint>();

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertOpen();
    for (const batch of toBatches(this.sorted().filter(({ id }) => !this.#read.has(id)))) {
      for (const { id } of batch) this.#read.add(id);
      yield batch;
    }
  }
}

class LockedWhileReading extends RowRepository {
  #readers = 0;

  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    if (this.#readers > 0) throw new StorageUnavailable('the database is locked');
    return super.add(plants);
  }

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.#readers += 1;
    try {
      yield* super.readAll();
    } finally {
      this.#readers -= 1;
    }
  }
}

class LeaksAbandonedReader extends RowRepository {
  #leaked = false;

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    let done = false;
    try {
      yield* super.readAll();
      done = true;
    } finally {
      if (!done) this.#leaked = true;
    }
  }

  protected override assertOpen(): void {
    super.assertOpen();
    if (this.#leaked) throw new StorageUnavailable('no connection is free');
  }
}

class ReturnsInternalArray extends RowRepository {
  #index: Plant[] = [];

  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    this.assertOpen();
    if (this.#index.length !== this.rows.size) this.#index = super.sorted();
    if (this.rows.size > 0) yield this.#index;
  }

  protected override addOne(plant: Plant): AddOutcome {
    const outcome = super.addOne(plant);
    if (outcome.kind === 'added') this.#index = [];
    return outcome;
  }
}

class ReadThrowsAtCall extends MemoryPlantRepository {
  #closed = false;

  override readAll(): AsyncGenerator<readonly Plant[]> {
    if (this.#closed) throw new StorageUnavailable('the repository is closed');
    return super.readAll();
  }

  override close(): Promise<void> {
    this.#closed = true;
    return super.close();
  }
}

class DriverErrorFromAdd extends RowRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    if (this.closed) throw new DriverError('the pool has ended');
    return super.add(plants);
  }
}

class DriverErrorFromReadAll extends RowRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    if (this.closed) throw new DriverError('the pool has ended');
    yield* super.readAll();
  }
}

class DriverErrorFromReady extends RowRepository {
  override async ready(): Promise<void> {
    if (this.closed) throw new DriverError('the pool has ended');
  }
}

class AddsAfterClose extends RowRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return plants.map((plant) => this.addOne(plant));
  }
}

class AddsNothingAfterClose extends MemoryPlantRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    return plants.length === 0 ? [] : super.add(plants);
  }
}

class ReadsEmptyAfterClose extends RowRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    if (!this.closed) yield* super.readAll();
  }
}

class AlwaysReady extends MemoryPlantRepository {
  override async ready(): Promise<void> {}
}

class ClosesOnce extends MemoryPlantRepository {
  #closed = false;

  override async close(): Promise<void> {
    if (this.#closed) throw new StorageUnavailable('the repository is closed');
    this.#closed = true;
    await super.close();
  }
}

class CloseAbortsAdd extends RowRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    this.assertOpen();
    await nextTurn();
    return super.add(plants);
  }
}

class CloseDoesNotWait extends RowRepository {
  override async add(plants: readonly Plant[]): Promise<AddOutcome[]> {
    const outcomes = await super.add(plants);
    await nextTurn();
    return outcomes;
  }
}

class CloseEndsReader extends RowRepository {
  override async *readAll(): AsyncGenerator<readonly Plant[]> {
    for await (const batch of super.readAll()) {
      if (this.closed) return;
      yield batch;
    }
  }
}

class ReopensOnUse extends RowRepository {
  override async close(): Promise<void> {
    await super.close();
    this.closed = false;
  }
}

/** Returns the fields of a plant without its methods, like the row of a driver. */
function toRow({ id, name, tag }: Plant): Plant {
  return { id, name, tag } as Plant;
}

function* repeatLastOfBatch(plants: readonly Plant[]): Generator<readonly Plant[]> {
  for (let from = 0; from < plants.length; from += BATCH_SIZE - 1) {
    yield plants.slice(from, from + BATCH_SIZE);
    if (from + BATCH_SIZE >= plants.length) return;
  }
}

function* skipOneBetweenBatches(plants: readonly Plant[]): Generator<readonly Plant[]> {
  for (let from = 0; from < plants.length; from += BATCH_SIZE + 1) yield plants.slice(from, from + BATCH_SIZE);
}

function* reuseArray(plants: readonly Plant[]): Generator<readonly Plant[]> {
  const buffer: Plant[] = [];
  for (const batch of toBatches(plants)) {
    buffer.splice(0, buffer.length, ...batch);
    yield buffer;
  }
}

function* reverseBatches(plants: readonly Plant[]): Generator<readonly Plant[]> {
  for (const batch of toBatches(plants)) yield batch.reverse();
}

function compareAsText(a: Plant, b: Plant): number {
  return String(a.id) < String(b.id) ? -1 : 1;
}

function compareUnsigned(a: Plant, b: Plant): number {
  return BigInt.asUintN(64, a.id) < BigInt.asUintN(64, b.id) ? -1 : 1;
}

function roundToNumber(id: bigint): bigint {
  const rounded = BigInt(Number(id));
  return rounded > MAX_PLANT_ID ? MAX_PLANT_ID : rounded;
}

/** Broken repositories, each with its fault. */
export const brokenRepositories: readonly { readonly fault: string; create(): PlantRepository }[] = [
  // Ids
  {
    fault: 'rounds ids beyond 2⁵³ to a JavaScript number',
    create: () => new Rewriting(({ id }) => ({ id: roundToNumber(id) })),
  },
  {
    fault: 'treats ids that round to the same JavaScript number as equal',
    create: () => new KeysByNumber(),
  },
  {
    fault: 'truncates ids to int32',
    create: () => new Rewriting(({ id }) => ({ id: BigInt.asIntN(32, id) })),
  },
  {
    fault: 'drops the sign of an id',
    create: () => new Rewriting(({ id }) => (id < 0n ? { id: BigInt.asUintN(63, -id) } : {})),
  },

  // Texts
  {
    fault: 'trims names',
    create: () => new Rewriting(({ name }) => ({ name: name.trim() })),
  },
  {
    fault: 'trims tags',
    create: () => new Rewriting(({ tag }) => ({ tag: tag?.trim() })),
  },
  {
    fault: 'strips trailing spaces of a name',
    create: () => new Rewriting(({ name }) => ({ name: name.replace(/ +$/u, '') })),
  },
  {
    fault: 'normalises texts to NFC',
    create: () => rewritingTexts((text) => text.normalize('NFC')),
  },
  {
    fault: 'replaces code points beyond U+FFFF with U+FFFD',
    create: () => rewritingTexts((text) => text.replace(/[\u{10000}-\u{10FFFF}]/gu, '\uFFFD')),
  },
  {
    fault: 'replaces code points beyond U+00FF with question marks',
    create: () => rewritingTexts((text) => text.replace(/[\u{100}-\u{10FFFF}]/gu, '?')),
  },
  {
    fault: 'strips a leading U+FEFF as a byte order mark',
    create: () => rewritingTexts((text) => new TextDecoder().decode(new TextEncoder().encode(text))),
  },
  {
    fault: 'converts CR LF to LF',
    create: () => rewritingTexts((text) => text.replaceAll('\r\n', '\n')),
  },
  {
    fault: 'truncates texts at the first line feed',
    create: () => rewritingTexts((text) => text.split('\n', 1).join('')),
  },
  {
    fault: 'doubles single quotes',
    create: () => rewritingTexts((text) => text.replaceAll("'", "''")),
  },
  {
    fault: 'drops backslashes',
    create: () => rewritingTexts((text) => text.replaceAll('\\', '')),
  },
  {
    fault: 'truncates texts after 255 code points',
    create: () => rewritingTexts((text) => truncate(text, 255)),
  },
  {
    fault: 'stores an empty name as a space',
    create: () => new Rewriting(({ name }) => ({ name: name === '' ? ' ' : name })),
  },
  {
    fault: 'stores objects that only look like plants',
    create: () => new RowRepository(),
  },
  {
    fault: 'stores an empty tag as no tag',
    create: () => new Rewriting(({ tag }) => ({ tag: tag === '' ? undefined : tag })),
  },
  {
    fault: 'stores no tag as an empty tag',
    create: () => new Rewriting(({ tag }) => ({ tag: tag ?? '' })),
  },
  {
    fault: 'stores no tag as the tag "undefined"',
    create: () => new Rewriting(({ tag }) => ({ tag: String(tag) })),
  },
  {
    fault: 'stores the tag "null" as no tag',
    create: () => new Rewriting(({ tag }) => ({ tag: tag === 'null' ? undefined : tag })),
  },

  // Outcomes
  {
    fault: 'returns the given plant as the holder of a taken id',
    create: () =>
      new Misreporting((outcomes, plants) =>
        outcomes.map((outcome, index) => {
          const holder = plants[index];
          return outcome.kind === 'taken' && holder !== undefined ? { kind: 'taken', holder } : outcome;
        }),
      ),
  },
  {
    fault: 'returns a holder without its tag',
    create: () =>
      new Misreporting((outcomes) =>
        outcomes.map((outcome) => {
          if (outcome.kind !== 'taken') return outcome;
          const { id, name } = outcome.holder;
          return { kind: 'taken', holder: toPlant({ id, name }) };
        }),
      ),
  },
  {
    fault: 'returns a plain row as the holder',
    create: () =>
      new Misreporting((outcomes) =>
        outcomes.map((outcome) =>
          outcome.kind === 'taken' ? { kind: 'taken', holder: toRow(outcome.holder) } : outcome,
        ),
      ),
  },
  {
    fault: 'returns the added outcomes first',
    create: () =>
      new Misreporting((outcomes) => [
        ...outcomes.filter(({ kind }) => kind === 'added'),
        ...outcomes.filter(({ kind }) => kind !== 'added'),
      ]),
  },
  {
    fault: 'returns the outcomes in the order of the ids',
    create: () =>
      new Misreporting((outcomes, plants) =>
        outcomes
          .map((outcome, index) => ({ outcome, id: plants[index]?.id ?? 0n }))
          .sort((a, b) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0))
          .map(({ outcome }) => outcome),
      ),
  },
  {
    fault: 'returns no outcome for duplicate ids in a batch',
    create: () =>
      new Misreporting((outcomes, plants) =>
        outcomes.filter((_, index) => plants.findIndex(({ id }) => id === plants[index]?.id) === index),
      ),
  },
  {
    fault: 'returns added for an identical plant',
    create: () =>
      new Misreporting((outcomes, plants) =>
        outcomes.map((outcome, index) => {
          const plant = plants[index];
          const same = outcome.kind === 'taken' && plant !== undefined && outcome.holder.equals(plant);
          return same ? { kind: 'added' } : outcome;
        }),
      ),
  },
  {
    fault: 'returns rejected for a taken id',
    create: () =>
      new Misreporting((outcomes) =>
        outcomes.map((outcome) =>
          outcome.kind === 'taken' ? { kind: 'rejected', error: new PlantRejected('the id is taken') } : outcome,
        ),
      ),
  },
  { fault: 'overwrites the holder of a taken id', create: () => new Overwrites() },
  { fault: 'fills the missing tag of the holder of a taken id', create: () => new FillsMissingTag() },

  // Batches
  {
    fault: 'adds the last of several plants with the same id in a batch',
    create: () => new LastInBatchWins(),
  },
  { fault: 'adds all of several plants with the same id in a batch', create: () => new AddsDuplicatesOfOneBatch() },
  { fault: 'rolls back the whole batch for a taken id, but returns added', create: () => new RollsBackAtTaken() },
  { fault: 'stops at the first taken id of a batch', create: () => new StopsAtTaken() },
  { fault: "throws the driver's error for a taken id", create: () => new ThrowsAtTaken() },
  {
    fault: 'throws PlantRejected for a plant of more than 8,000 characters',
    create: () => new ThrowsPlantRejected(),
  },
  {
    fault: 'rejects the whole batch of a plant of more than 8,000 characters',
    create: () => new RejectsWholeBatch(),
  },
  { fault: 'throws for an empty batch', create: () => new ThrowsForEmptyBatch() },
  { fault: 'throws for a batch of more than 1,000 plants', create: () => new LimitedBatch(MAX_PLANTS) },
  {
    fault: 'throws for a batch of more than 65,535 placeholders, three per plant',
    create: () => new LimitedBatch(Math.floor(MAX_PLACEHOLDERS / 3)),
  },
  { fault: 'returns added for plants beyond the 1,000th without storing them', create: () => new DropsBeyondLimit() },

  // Concurrency and durability
  {
    fault: 'returns added for both of two concurrent plants with the same id, and overwrites the first',
    create: () => new ReadsThenWrites(),
  },
  {
    fault: 'loses all but the last of concurrent adds',
    create: () => new WritesWholeFile(),
  },
  {
    fault: 'returns to the later of two concurrent adds its own plant as the holder',
    create: () => new ReturnsLoserAsHolder(),
  },
  {
    fault: 'throws StorageUnavailable from the later of two concurrent adds of the same id',
    create: () => new ThrowsInRace(),
  },
  { fault: 'resolves add before the plants are stored', create: () => new WritesBehind() },

  // Reading
  {
    fault: 'readAll orders ids as text',
    create: () => new Misreading((plants) => toBatches(plants.sort(compareAsText))),
  },
  {
    fault: 'readAll orders ids as unsigned integers',
    create: () => new Misreading((plants) => toBatches(plants.sort(compareUnsigned))),
  },
  {
    fault: 'readAll orders ids as JavaScript numbers',
    create: () => new SortsByNumber(),
  },
  { fault: 'readAll returns plants in insertion order', create: () => new ReadsInInsertionOrder() },
  {
    fault: 'readAll orders plants only within each batch of 100',
    create: () => new SortsWithinBatches(),
  },
  {
    fault: 'readAll reverses each batch of 100',
    create: () => new Misreading(reverseBatches),
  },
  {
    fault: 'readAll repeats the last plant of each batch of 100 in the next one',
    create: () => new Misreading(repeatLastOfBatch),
  },
  {
    fault: 'readAll skips one plant between two batches of 100',
    create: () => new Misreading(skipOneBetweenBatches),
  },
  {
    fault: 'readAll stops after 1,000 plants',
    create: () => new Misreading((plants) => toBatches(plants.slice(0, MAX_PLANTS))),
  },
  {
    fault: 'readAll skips the smallest id',
    create: () => new Misreading((plants) => toBatches(plants.filter(({ id }) => id > MIN_PLANT_ID))),
  },
  {
    fault: 'readAll skips the largest id',
    create: () => new Misreading((plants) => toBatches(plants.filter(({ id }) => id < MAX_PLANT_ID))),
  },
  {
    fault: 'readAll skips negative ids',
    create: () => new Misreading((plants) => toBatches(plants.filter(({ id }) => id >= 0n))),
  },
  {
    fault: 'readAll skips the id 0',
    create: () => new Misreading((plants) => toBatches(plants.filter(({ id }) => id !== 0n))),
  },
  {
    fault: 'readAll returns plain rows',
    create: () => new Misreading((plants) => toBatches(plants.map(toRow))),
  },
  {
    fault: 'readAll reuses one array for every batch of 100',
    create: () => new Misreading(reuseArray),
  },
  {
    fault: 'readAll returns its internal array, so that modifying a batch changes later reads',
    create: () => new ReturnsInternalArray(),
  },
  {
    fault: 'readAll repeats a plant when a smaller id is added meanwhile',
    create: () => new PagesByOffset(),
  },
  { fault: 'concurrent readers share one cursor', create: () => new SharesCursor() },
  { fault: 'readAll returns each plant to the first reader only', create: () => new ReadsOnce() },
  { fault: 'add throws StorageUnavailable while a reader is open', create: () => new LockedWhileReading() },
  {
    fault: 'every call throws StorageUnavailable after a reader stops early',
    create: () => new LeaksAbandonedReader(),
  },

  // Closing
  {
    fault: 'readAll after close throws from the call instead of while iterating',
    create: () => new ReadThrowsAtCall(),
  },
  {
    fault: "add after close throws the driver's error",
    create: () => new DriverErrorFromAdd(),
  },
  {
    fault: "readAll after close throws the driver's error",
    create: () => new DriverErrorFromReadAll(),
  },
  {
    fault: "ready after close throws the driver's error",
    create: () => new DriverErrorFromReady(),
  },
  { fault: 'add after close still adds', create: () => new AddsAfterClose() },
  { fault: 'add of an empty batch after close resolves', create: () => new AddsNothingAfterClose() },
  { fault: 'readAll after close reads nothing', create: () => new ReadsEmptyAfterClose() },
  { fault: 'ready after close resolves', create: () => new AlwaysReady() },
  { fault: 'calls after close reopen the storage', create: () => new ReopensOnUse() },
  { fault: 'the second close throws', create: () => new ClosesOnce() },
  { fault: 'close aborts a pending add', create: () => new CloseAbortsAdd() },
  { fault: 'close resolves before a pending add', create: () => new CloseDoesNotWait() },
  {
    fault: 'close ends a reader after a batch of 100 as if it were complete',
    create: () => new CloseEndsReader(),
  },
];

/** Principal of a valid token. */
const PRINCIPAL: Principal = { subject: 'gardener' };

/** Creates a verifier from a synchronous function. */
function createVerifier(verify: (token: string) => Principal | undefined): TokenVerifier {
  return { verify: async (token) => verify(token) };
}

/** Creates a verifier that returns {@link PRINCIPAL} if `isValid` accepts the token. */
function accepting(isValid: (token: string) => boolean): TokenVerifier {
  return createVerifier((token) => (isValid(token) ? PRINCIPAL : undefined));
}

/** Creates a verifier that derives the subject from the token. */
function naming(validToken: string, subject: (token: string) => string): TokenVerifier {
  return createVerifier((token) => (token === validToken ? { subject: subject(token) } : undefined));
}

/** Creates a verifier that throws for invalid tokens. */
function throwing(validToken: string, error: () => Error): TokenVerifier {
  return createVerifier((token) => {
    if (token === validToken) return PRINCIPAL;
    throw error();
  });
}

class MixesUpCalls implements TokenVerifier {
  readonly #validToken: string;
  #token = '';

  constructor(validToken: string) {
    this.#validToken = validToken;
  }

  async verify(token: string): Promise<Principal | undefined> {
    this.#token = token;
    await nextTurn();
    return this.#token === this.#validToken ? PRINCIPAL : undefined;
  }
}

/** Broken verifiers that accept `validToken`, each with its fault. */
export const brokenVerifiers: readonly { readonly fault: string; create(validToken: string): TokenVerifier }[] = [
  {
    fault: 'ignores letter case',
    create: (validToken) => accepting((token) => token.toLowerCase() === validToken.toLowerCase()),
  },
  {
    fault: 'trims the token',
    create: (validToken) => accepting((token) => token.trim() === validToken),
  },
  {
    fault: 'accepts a token that starts with a valid one',
    create: (validToken) => accepting((token) => token.startsWith(validToken)),
  },
  {
    fault: 'accepts a prefix of a valid token',
    create: (validToken) => accepting((token) => token !== '' && validToken.startsWith(token)),
  },
  {
    fault: 'accepts the empty token',
    create: (validToken) => accepting((token) => token === '' || token === validToken),
  },
  {
    fault: 'accepts a valid token with its scheme',
    create: (validToken) => accepting((token) => token.replace(/^Bearer /iu, '') === validToken),
  },
  {
    fault: 'throws for an invalid token',
    create: (validToken) => throwing(validToken, () => new Error('the token is invalid')),
  },
  {
    fault: 'throws TokenIssuerUnavailable for an invalid token',
    create: (validToken) => throwing(validToken, () => new TokenIssuerUnavailable('the issuer is unavailable')),
  },
  {
    fault: 'throws for a token of a different length',
    create: (validToken) => accepting((token) => timingSafeEqual(Buffer.from(token), Buffer.from(validToken))),
  },
  {
    fault: 'throws for a token that is not Base64',
    create: (validToken) =>
      createVerifier((token) => {
        if (token === validToken) return PRINCIPAL;
        atob(token);
        return undefined;
      }),
  },
  {
    fault: 'returns null for an invalid token',
    create: (validToken) =>
      createVerifier((token) => (token === validToken ? PRINCIPAL : (null as unknown as undefined))),
  },
  {
    fault: 'returns a principal with an empty subject for an invalid token',
    create: (validToken) => createVerifier((token) => (token === validToken ? PRINCIPAL : { subject: '' })),
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
    fault: 'the subject is empty',
    create: (validToken) => naming(validToken, () => ''),
  },
  {
    fault: 'the subject differs at every call',
    create: (validToken) => {
      let calls = 0;
      return naming(validToken, () => `caller ${++calls}`);
    },
  },
  {
    fault: 'accepts a valid token only once',
    create: (validToken) => {
      let used = false;
      return accepting((token) => {
        if (token !== validToken || used) return false;
        used = true;
        return true;
      });
    },
  },
  {
    fault: 'accepts every token after a valid one',
    create: (validToken) => {
      let known = false;
      return accepting((token) => {
        known ||= token === validToken;
        return known;
      });
    },
  },
  {
    fault: 'rejects a valid token after an invalid one',
    create: (validToken) => {
      let locked = false;
      return accepting((token) => {
        locked ||= token !== validToken;
        return !locked;
      });
    },
  },
  {
    fault: 'gives two concurrent calls the result of the later one',
    create: (validToken) => new MixesUpCalls(validToken),
  },
];
