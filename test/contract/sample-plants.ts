import { MAX_PLANT_ID, MIN_PLANT_ID, type NewPlant, Plant, type PlantId } from '@plant-store/core';

/** The fields of a plant that hold strings. */
type Texts = Omit<NewPlant, 'id'>;

export function plant(id: bigint | PlantId, name: string, tag?: string): Plant {
  return plantWith(id, { name, tag });
}

/** Creates plants with ids from `firstId`. */
export function createPlants(count: number, firstId = 0n): Plant[] {
  return Array.from({ length: count }, (_, index) => plant(firstId + BigInt(index), `plant ${index}`));
}

/** Creates a plant. The one place that converts the numbers of the cases to ids. */
function plantWith(id: bigint | PlantId, texts: Texts): Plant {
  const result = Plant.from({ ...texts, id });
  if (result.kind === 'valid') return result.plant;
  throw new TypeError(`invalid plant in a case: ${result.violations.map(({ field, rule }) => `${field} ${rule}`)}`);
}

/** Powers of 2 and 10, the ids beside them, and their negatives, which numeric types round and strings sort differently. */
const IDS = Array.from({ length: 64 }, (_, exponent) => [2n ** BigInt(exponent), 10n ** BigInt(exponent)])
  .flatMap((powers) => powers.flatMap((power) => [power - 1n, power, power + 1n]))
  .flatMap((id) => [id, -id])
  .filter((id) => MIN_PLANT_ID <= id && id <= MAX_PLANT_ID);

/** Plants that differ only in their ids, at both ends of int64 and between. Not sorted. */
export const PLANTS_WITH_IDS: readonly Plant[] = [...new Set(IDS)].map((id) => plant(id, 'Monstera', 'indoor'));

/** Thousands of plants at both ends of int64 and around 0. Not sorted. */
export const SCATTERED_PLANTS: readonly Plant[] = Array.from({ length: 1500 }, (_, index) => BigInt((index * 7) % 1500))
  .flatMap((offset) => [MIN_PLANT_ID + offset, (offset - 750n) * 3n, MAX_PLANT_ID - offset])
  .map((id) => plant(id, `plant ${id}`));

/** Splits a string at its spaces. */
const words = (text: string): string[] => text.split(' ');

const CONTROLS = Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1));
const SEPARATORS = [...CONTROLS, ...words(', ; : :: | / - _ = & # "," \',\' \\ " \u2028 \u241e'), ' ', ', '];

/** Strings that mean "no value" in some format or language. */
const EMPTY_WORDS = ['', ' ', ...words('null NULL undefined None nil NaN N/A 0 false - "" [] {} \\N \u200b \ufeff')];

/** Groups of different strings that storage might confuse with each other or change. */
const SIMILAR_TEXTS: readonly (readonly string[])[] = [
  EMPTY_WORDS,
  // Letter case, alphabets and Unicode equivalence
  words('Monstera monstera MONSTERA Monsterá Monstera\u0301 \u041constera'),
  words('é e\u0301 É E\u0301 e è Ã© \u212b \u00c5 A\u030a \u2126 \u03a9 \u0344 \u0300'),
  words('\u212a K k σ ς Σ ß ss ẞ SS ﬁ fi ſ s I i İ ı i\u0307 Ａ A ① ² 2 ٢ ½'),
  words('🌵 🌴 🌵\ufe0f \u{1f335}\u{1f3fd} 👩🏽‍🌾 \u{10ffff} \ud7ff\ue000 \uffff \ufffd \ufffd\ufffd ? ?? 日本'),
  // White space and characters that a comparison may ignore
  ['Aloe', 'Aloe ', ' Aloe', 'Aloe\t', 'Aloe\n', 'Aloe\r\n', '\nAloe', 'Aloe\u00a0', 'Aloe\u3000', 'Aloe\u0085'],
  ['Aloe vera', 'Aloe  vera', 'Aloe\tvera', 'Aloe\u00a0vera', 'Aloe\nvera', 'Aloe\rvera', 'Aloe\r\nvera', 'Aloevera'],
  words('Ficus \ufeffFicus Fi\ufeffcus Fi\u00adcus Ficus\u200b Fi\u200dcus Fi\u2060cus \u202eFicus Ficus\u007f'),
  // Numbers and values of other types
  words('1 01 1.0 1e0 +1 -1 0x1 1n true TRUE 1,5 1_000 1e400 Infinity 2026-01-01 12:30 =1+1'),
  words('9007199254740992 9007199254740993 {"a":1} [1,2] __proto__ constructor toString length . .. ../a C:\\a'),
  // Quotes, escapes and patterns
  ['a b', ...words('a+b a%20b a%2Bb a%2bb a%zzb a&b a&amp;b a%26b a\\u0026b <b>b</b> &#65; <!--a--> <![CDATA[a]]>')],
  words('a "a" \'a\' \\"a\\" `a` a" a\' a\\ a\\\\ it\'s a\\n a\\0 \\x61 \\u0061 \\u0000'),
  words("% %% %s _ * .* ? ?? $1 @a :a $& $$ $' $` $\u007ba} {{a}} #a //a ~ ^ \u001b[31m '); -- /**/"),
  // Separators and lengths
  ...SEPARATORS.map((separator) => [separator, 'a', `a${separator}`, `a${separator}b`, `${separator}a${separator}`]),
  ...[255, 256, 65_535, 65_536]
    .map((length) => 'x'.repeat(length))
    .map((long) => [long, `${long}a`, `${long}b`, `a${long}`]),
];

/** Strings that storage might trim, fold, normalise, truncate, escape, split or parse. */
export const TEXTS: readonly string[] = [...new Set(SIMILAR_TEXTS.flat())];

/** Sets one field to a string. */
const FIELDS = {
  name: (name) => ({ name }),
  tag: (tag) => ({ name: 'Aloe', tag }),
} satisfies Record<keyof Texts, (text: string) => Texts>;

/** Groups of plants with ids of their own and different strings that storage might confuse with each other. */
const SIMILAR_PLANTS = [
  ...Object.values(FIELDS).flatMap((toTexts) => SIMILAR_TEXTS.map((texts): Texts[] => texts.map(toTexts))),
  [{ name: 'Aloe' }, ...EMPTY_WORDS.map(FIELDS.tag)],
  ...['', ...SEPARATORS].map((separator): Texts[] => [
    { name: `a${separator}b`, tag: 'c' },
    { name: 'a', tag: `b${separator}c` },
    { name: `a${separator}b${separator}c` },
    { name: `a${separator}b${separator}c`, tag: '' },
    { name: '', tag: `a${separator}b${separator}c` },
  ]),
].map((group, number) => group.map((texts, index) => plantWith(BigInt(100 * number + index), texts)));

/** Plants with each of these strings. */
export const PLANTS_WITH_TEXTS: readonly Plant[] = SIMILAR_PLANTS.flat();

/** Pairs of such a plant, and one with the same id and similar or identical strings. */
export const RIVALS: readonly (readonly [stored: Plant, rival: Plant])[] = SIMILAR_PLANTS.flatMap((group) =>
  group.flatMap((stored) => group.map((other) => [stored, plantWith(stored.id, other)] as const)),
);

/** Counts at which paging might lose or repeat plants: common page sizes, their multiples, and one more. */
export const READ_COUNTS: readonly number[] = words(
  '1 2 5 8 10 16 20 25 32 50 64 100 128 200 250 256 300 400 500 512 768 1000 1024 2000 2048 2500 4000 4096 5000 8192 10000',
).flatMap((count) => [Number(count), Number(count) + 1]);

/** A plant whose values appear in no other string. */
export const CONFIDENTIAL: Plant = plantWith(7_310_492_655_018_273_645n, {
  name: 'Quxilvane-name',
  tag: 'Zorbuthic-tag',
} satisfies Required<Texts>);
