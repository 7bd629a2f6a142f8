import {
  type AddOutcome,
  type NewPlant,
  PLANT_ID_MAX,
  PLANT_ID_MIN,
  Plant,
  type PlantRepository,
  StorageUnavailable,
} from '../../core/index.js';
import { assertEqual, BrokenPromise, type ContractCase } from './contract.js';

/** What the cases need of an adapter. */
export interface PlantRepositoryHarness {
  /** Opens a repository on a new storage without any plant. The case closes it. */
  open(): Promise<PlantRepository>;
}

/** What the cases need of an adapter whose plants outlive it. */
export interface DurablePlantRepositoryHarness extends PlantRepositoryHarness {
  /** Opens the storage of the last `open` again. The case closes it. */
  reopen(): Promise<PlantRepository>;
}

const TWO_TO_THE_53RD = 2n ** 53n;

/** Integers that a double, an int32 or an unsigned type would not keep. */
const IDS: readonly bigint[] = [
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
const TEXTS: readonly string[] = [
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
export const plantRepositoryContract: readonly ContractCase<PlantRepositoryHarness>[] = [
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
    const outcomes = await plants.add([plant(7n, 'Ficus')]);
    assertEqual(outcomes.map(summary), [['taken', holder]], 'outcomes');
  }),

  promise('tells so of the very same plant, too', async (plants) => {
    await addAll(plants, [plant(7n, 'Monstera', 'indoor')]);
    const outcomes = await plants.add([plant(7n, 'Monstera', 'indoor')]);
    assertEqual(outcomes.map(summary), [['taken', plant(7n, 'Monstera', 'indoor')]], 'outcomes');
  }),

  promise('never changes a plant that it keeps', async (plants) => {
    const kept = plant(7n, 'Monstera', 'indoor');
    await addAll(plants, [kept]);
    await plants.add([plant(7n, 'Ficus', 'outdoor'), plant(7n, 'Monstera')]);
    await assertContent(plants, [kept]);
  }),

  promise('adds neighbours of a taken plant', async (plants) => {
    const holder = plant(2n, 'Monstera');
    await addAll(plants, [holder]);
    const outcomes = await plants.add([plant(1n, 'before'), plant(2n, 'Ficus'), plant(3n, 'after')]);
    assertEqual(outcomes.map(summary), [['added'], ['taken', holder], ['added']], 'outcomes');
    await assertContent(plants, [plant(1n, 'before'), holder, plant(3n, 'after')]);
  }),

  promise('returns the outcomes in the order of the plants', async (plants) => {
    const holders = [plant(1n, 'one'), plant(3n, 'three')];
    await addAll(plants, holders);
    const outcomes = await plants.add([4n, 3n, 2n, 1n].map((id) => plant(id, 'other')));
    const [one, three] = holders;
    assertEqual(outcomes.map(summary), [['added'], ['taken', three], ['added'], ['taken', one]], 'outcomes');
  }),

  promise('of two plants with one id in a batch the first counts', async (plants) => {
    const [first, second] = [plant(5n, 'first'), plant(5n, 'second', 'tag')];
    const outcomes = await plants.add([first, second]);
    assertEqual(outcomes.map(summary), [['added'], ['taken', first]], 'outcomes');
    await assertContent(plants, [first]);
  }),

  promise('an empty batch has no outcomes', async (plants) => {
    assertEqual(await plants.add([]), [], 'outcomes');
  }),

  promise('takes thousands of plants in one batch', async (plants) => {
    const candidates = Array.from({ length: 5000 }, (_, index) => plant(BigInt(index) - 2500n, `plant ${index}`));
    await addAll(plants, candidates);
    await assertHolders(plants, candidates);
    await assertContent(plants, candidates);
  }),

  promise('concurrent batches with overlapping ids give each id to exactly one plant', async (plants) => {
    const ids = Array.from({ length: 60 }, (_, index) => BigInt(index));
    const batches = Array.from({ length: 8 }, (_, batch) => {
      const candidates = ids.slice(batch * 4, batch * 4 + 32).map((id) => plant(id, `of batch ${batch}`));
      return batch % 2 === 0 ? candidates : candidates.reverse();
    });
    const outcomes = await Promise.all(batches.map((batch) => plants.add(batch)));
    const tried = batches.flatMap((batch, index) =>
      batch.map((candidate, position) => ({ candidate, outcome: outcomes[index]?.[position] })),
    );
    const winners = tried.filter(({ outcome }) => outcome?.kind === 'added').map(({ candidate }) => candidate);
    assertEqual(
      ascending(winners).map(({ id }) => id),
      ids,
      'ids that were added',
    );
    for (const { candidate, outcome } of tried) {
      const winner = winners.find(({ id }) => id === candidate.id);
      const expected = winner === candidate ? ['added'] : ['taken', winner];
      assertEqual(outcome && summary(outcome), expected, `the outcome of ${candidate.id} ${candidate.name}`);
    }
    await assertContent(plants, winners);
  }),

  promise('reads nothing where there is no plant', async (plants) => {
    await assertContent(plants, []);
  }),

  promise('reads every plant back once, ascending by id', async (plants) => {
    const shuffled = Array.from({ length: 1500 }, (_, index) => BigInt((index * 7) % 1500));
    const ids = shuffled.flatMap((id) => [PLANT_ID_MIN + id, (id - 750n) * 3n, PLANT_ID_MAX - id]);
    const candidates = ids.map((id) => plant(id, `plant ${id}`));
    await addAll(plants, candidates);
    await assertContent(plants, candidates);
  }),

  promise('goes on working where a reader leaves early', async (plants) => {
    const candidates = Array.from({ length: 1500 }, (_, index) => plant(BigInt(index), `plant ${index}`));
    await addAll(plants, candidates);
    for (let round = 0; round < 20; round++) for await (const _ of plants.readAll()) break;
    await addAll(plants, [plant(-1n, 'later')]);
    await assertContent(plants, [plant(-1n, 'later'), ...candidates]);
  }),

  promise('says that it is ready', async (plants) => {
    await plants.ready();
  }),

  promise('throws StorageUnavailable after close', async (plants) => {
    await plants.close();
    await assertUnavailable('add', () => plants.add([plant(1n, 'late')]));
    await assertUnavailable('readAll', () => assertContent(plants, []));
    await assertUnavailable('ready', () => plants.ready());
  }),

  promise('finishes what is under way before it is closed', async (plants) => {
    const holder = plant(1n, 'Monstera');
    await addAll(plants, [holder]);
    const [outcomes] = await Promise.all([plants.add([plant(1n, 'Ficus'), plant(2n, 'Aloe')]), plants.close()]);
    assertEqual(outcomes.map(summary), [['taken', holder], ['added']], 'outcomes');
  }),

  promise('closing twice does nothing', async (plants) => {
    await Promise.all([plants.close(), plants.close()]);
    await plants.close();
  }),
];

/** What a plant repository promises besides, where its plants outlive it. */
export const durablePlantRepositoryContract: readonly ContractCase<DurablePlantRepositoryHarness>[] = [
  ...plantRepositoryContract,
  {
    name: 'what was added is there after reopening',
    async run(harness) {
      const kept = [...IDS.map((id) => plant(id, `${id}`)), plant(42n, '', ''), plant(43n, '🌵')];
      await closingAfter(await harness.open(), (plants) => addAll(plants, kept));
      await closingAfter(await harness.reopen(), async (plants) => {
        await assertContent(plants, kept);
        await assertHolders(plants, kept);
      });
    },
  },
];

function promise(
  name: string,
  check: (plants: PlantRepository) => Promise<void>,
): ContractCase<PlantRepositoryHarness> {
  return { name, run: async (harness) => closingAfter(await harness.open(), check) };
}

async function closingAfter(plants: PlantRepository, check: (plants: PlantRepository) => Promise<void>): Promise<void> {
  try {
    await check(plants);
  } finally {
    await plants.close();
  }
}

function plant(id: bigint, name: string, tag?: string): Plant {
  const candidate: NewPlant = { id, name, tag };
  const made = Plant.from(candidate);
  if (made instanceof Plant) return made;
  throw new TypeError(`a case uses what is no plant: ${made.map(({ message }) => message).join('; ')}`);
}

/** Adds plants whose ids are free. */
async function addAll(plants: PlantRepository, candidates: readonly Plant[]): Promise<void> {
  const outcomes = await plants.add(candidates);
  assertEqual(
    outcomes.map(summary),
    candidates.map(() => ['added']),
    'outcomes',
  );
}

/** Every one of `kept` is what the repository tells of when its id is asked for again. */
async function assertHolders(plants: PlantRepository, kept: readonly Plant[]): Promise<void> {
  const outcomes = await plants.add(kept.map(({ id }) => plant(id, 'another plant')));
  assertEqual(
    outcomes.map(summary),
    kept.map((holder) => ['taken', holder]),
    'plants that hold their ids',
  );
}

/** The repository holds exactly these plants, and reads them ascending by id. */
async function assertContent(plants: PlantRepository, expected: readonly Plant[]): Promise<void> {
  const read: Plant[] = [];
  for await (const batch of plants.readAll()) {
    read.push(...batch.map(assertPlant));
    if (read.length > expected.length)
      throw new BrokenPromise(`read more than the ${expected.length} plants there are`);
  }
  assertEqual(read, ascending(expected), 'plants that were read');
}

function ascending(plants: readonly Plant[]): Plant[] {
  return [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
}

function summary(outcome: AddOutcome): readonly [kind: string, holder?: Plant] {
  return outcome.kind === 'taken' ? [outcome.kind, assertPlant(outcome.holder)] : [outcome.kind];
}

function assertPlant(value: Plant): Plant {
  if (value instanceof Plant) return value;
  throw new BrokenPromise('a plant was made without Plant.from');
}

async function assertUnavailable(what: string, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (error instanceof StorageUnavailable) return;
    throw new BrokenPromise(`${what}: expected StorageUnavailable, got ${error}`);
  }
  throw new BrokenPromise(`${what}: expected StorageUnavailable, but it did what it was asked`);
}
