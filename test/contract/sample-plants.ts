import { MAX_PLANT_ID, MIN_PLANT_ID, Plant } from '../../core/index.js';
export const TEXT_FIELDS = ['name', 'tag'] as const;
export const OPTIONAL_TEXTS = ['tag'] as const;
export type RawTexts = { readonly name?: string | undefined; readonly tag?: string | null | undefined };
export const toNewPlant = (id: bigint, t: RawTexts) => ({ id, name: t.name ?? '', tag: t.tag ?? undefined });

/** Creates a plant. */
export function plant(id: bigint | Plant['id'], name: string, tag?: string): Plant {
  return plantWith(id, { name, tag });
}

/** Creates a plant with any texts. The one place that converts the ids of the cases. */
export function plantWith(id: bigint | Plant['id'], texts: RawTexts): Plant {
  const result = Plant.from(toNewPlant(id, texts));
  if (result.kind === 'valid') return result.plant;
  throw new TypeError(
    `invalid plant in a contract case: ${result.violations.map(({ message }) => message).join('; ')}`,
  );
}

/** Creates plants with ids from `firstId`. */
export function createPlants(count: number, firstId = 0n): Plant[] {
  return Array.from({ length: count }, (_, index) => plant(firstId + BigInt(index), `plant ${index}`));
}

/** Ids that doubles, int32, unsigned or decimal types, or sorting as text would get wrong. Shuffled. */
export const IDS: readonly bigint[] = shuffle([
  ...new Set(
    [
      ...Array.from({ length: 64 }, (_, exponent) => 2n ** BigInt(exponent)),
      ...Array.from({ length: 19 }, (_, exponent) => 10n ** BigInt(exponent)),
    ]
      .flatMap((power) => [power - 1n, power, power + 1n, 3n * power + 1n])
      .flatMap((id) => [id, -id])
      .concat(MIN_PLANT_ID, MIN_PLANT_ID + 1n, MAX_PLANT_ID - 1n, MAX_PLANT_ID)
      .filter((id) => MIN_PLANT_ID <= id && id <= MAX_PLANT_ID),
  ),
]);

/** Splits a string at its spaces. */
const words = (text: string): string[] => text.split(' ');

const SEPARATORS = [...words(', ; : :: | / - _ = & # \t \n \r\n \u001f \u001e \u2028 "," \',\' \\ "'), ' ', ', '];

/** Texts that mean "no value" in some format or language. */
export const EMPTY_WORDS: readonly string[] = [
  ...words('null NULL Null undefined none None nil NaN N/A 0 false - "" \'\' [] {} \\N \\0 \u2400 \u200b \ufeff'),
  ...['', ' ', '[object Object]'],
];

/** Texts that storage might trim, fold, normalise, truncate, escape, split or parse. */
export const TEXTS: readonly string[] = [
  ...EMPTY_WORDS,
  // White space, line breaks and control characters
  ...['a ', ' a', 'a\t\r\n', '\ta', '\n\na', 'a\nb\n', 'a\rb', '\u3000a\u00a0', '  a  b  ', '\u2028\u2029\u0085'],
  ...words('\u007f\u0080\u009f \v\f\b\u001b[31m \u0001 a\u001ab a\u0004'),
  Array.from({ length: 31 }, (_, index) => String.fromCharCode(index + 1)).join(''),
  // Unicode
  ...words(
    'é e\u0301 ﬁ Ａ ß ẞ İ ı ς ① \u2126 \u03a9 \u0344 \u0300 Ä Ã¤ â‚¬ 日本語 עברית 🌵 👩🏽‍🌾 \u{10ffff} \ud7ff\ue000',
  ),
  ...words('\uffff\ufffe\ufdd0\ufffd \ufeffbefore in\ufeffside soft\u00adhyphen \u2060'),
  'right \u202eto left',
  // Quotes and escapes
  ...words(String.raw`'"\`''"" '' "" "quoted" it's \ \\ \" \' \u0041 \x41 \n\t\r \u0000\n\0`),
  ...words('% %% %s%d %20 %2B %00 %zz %_*? + a+b a&b=c &amp; &lt; &#65; &nbsp; =41 =?utf-8?q?a?= <b> </b>'),
  ...words("<![CDATA[a]]> <!--a--> $\u007ba} {{a}} $1 $& $$ $' $` * ~ ^ #a //a !a @a"),
  ...['? ?? :name $1 @tag', "'); DROP TABLE plants; --", '/* a */', '-- a', 'a+b c'],
  // Separators
  ...SEPARATORS.flatMap((separator) => [separator, `a${separator}b`, `${separator}a${separator}`]),
  // Paths and members of objects
  ...words('. .. ../a // C:\\a CON __proto__ constructor toString hasOwnProperty length'),
  // Values of other types
  ...words('true True yes on 1 -1 +1 01.50 007 1.0 1e3 1e400 0x10 1_000 1,5 1n ٣ Infinity 9007199254740993'),
  ...words('2026-01-01 2026-01-01T00:00:00.000Z 12:30 =1+1 {"a":1} [1,2] ["1","a",null]'),
];

/** Lengths after which storage might truncate or stop comparing. */
const LENGTHS = [16, 32, 50, 64, 72, 100, 128, 191, 200, 255, 256, 500, 512, 767, 1000, 1024, 2048, 3072, 4000, 4096];
const LARGE_LENGTHS = [8000, 8192, 16_384, 32_767, 32_768, 65_535, 65_536];

function toSimilarTexts(length: number): readonly string[] {
  const long = 'x'.repeat(length);
  return [long, `${long}a`, `${long}b`, `a${long}`, `b${long}`];
}

/** Groups of strings that are different but that a loose comparison treats as equal. */
const SIMILAR_TEXTS: readonly (readonly string[])[] = [
  words('Monstera monstera MONSTERA Monsterá Monstera\u0301 \u041constera'),
  ['Aloe', 'Aloe ', ' Aloe', 'Aloe\t', 'Aloe\n', 'Aloe\r\n', 'Aloe\u00a0', 'Aloe\u3000'],
  ['Aloe vera', 'Aloe  vera', 'Aloe\tvera', 'Aloe\u00a0vera', 'Aloe\nvera', 'Aloevera', 'Aloe-vera', 'Aloe_vera'],
  words('Ficus Ficus\u0001 Ficus\u001f Ficus\u200b Fi\u00adcus \ufeffFicus Ficus\ufe0f Ficus\u200d Fi\u2060cus'),
  words('é e\u0301 e É E\u0301 è'),
  words('\u212b \u00c5 A\u030a A a'),
  words('ß ss ẞ SS'),
  words('ﬁ fi FI'),
  words('I i İ ı i\u0307'),
  words('σ ς Σ'),
  words('\u212a K k ſ s S'),
  words('Ａ A ① 1 ² 2 ٢ ½ 1⁄2'),
  words('🌵 🌴 🌵\ufe0f \u{1f335}\u{1f3fd} \ufffd \ufffd\ufffd ? ??'),
  [...words('1 01 1.0 1e0 +1 0x1 true'), '1 '],
  words('10 1e1 010 10.'),
  words('9007199254740992 9007199254740993'),
  [...words('a+b a%20b a%2Bb a%2bb'), 'a b'],
  words('a&b a&amp;b a%26b a\\u0026b'),
  words('a\nb a\r\nb a\rb a\\nb a\u2028b a'),
  words('"a" a \'a\' \\"a\\" `a`'),
  words('% _ * .* abc ?'),
  EMPTY_WORDS,
];

/** Groups of strings of plants that are different but that a loose comparison treats as equal. */
export const SIMILAR_PLANTS: readonly (readonly RawTexts[])[] = [
  ...TEXT_FIELDS.flatMap((field) =>
    [...SIMILAR_TEXTS, ...LENGTHS.map(toSimilarTexts)].map((texts) => [
      ...OPTIONAL_TEXTS.filter((optional) => optional === field).map(() => ({ name: 'Aloe' })),
      ...texts.map((text) => ({ name: 'Aloe', [field]: text })),
    ]),
  ),
  ...LARGE_LENGTHS.map((length) => toSimilarTexts(length).map((name) => ({ name }))),
  [
    { name: 'a', tag: 'bc' },
    { name: 'ab', tag: 'c' },
    { name: 'abc', tag: '' },
    { name: 'abc' },
    { name: '', tag: 'abc' },
    { name: 'bc', tag: 'a' },
    { name: 'c', tag: 'ab' },
  ],
  ...SEPARATORS.map((separator) => [
    { name: `a${separator}b`, tag: 'c' },
    { name: 'a', tag: `b${separator}c` },
    { name: `a${separator}b${separator}c` },
    { name: `a${separator}b${separator}c`, tag: '' },
    { name: '', tag: `a${separator}b${separator}c` },
  ]),
];

/** Plant counts at which paging might lose or repeat plants: multiples of common page sizes, and one more or less. */
export const READ_COUNTS: readonly number[] = [
  ...new Set(
    [1, 2, 5, 8, 10, 16, 20, 25, 30, 32, 40, 50, 64, 100, 128, 200, 250, 256, 500, 512, 1000, 1024]
      .flatMap((size) => [size, 2 * size, 3 * size])
      .concat(2500, 4000, 4096, 5000, 8192, 10_000)
      .flatMap((count) => (count > 1100 ? [count] : [count - 1, count, count + 1]))
      .filter((count) => count > 0),
  ),
].sort((a, b) => a - b);

/** A plant whose values appear in no other string. */
export const CONFIDENTIAL: Plant = plantWith(7_310_492_655_018_273_645n, {
  name: 'Quxilvane-name',
  ...Object.fromEntries(OPTIONAL_TEXTS.map((field) => [field, `Zorbuthic-${field}`])),
});

/** Returns the elements in a fixed order that is neither ascending nor descending. */
function shuffle<T>(elements: readonly T[]): T[] {
  const positions = elements.map((element, index) => ({ element, key: (index * 7919) % 10_007 }));
  return positions.sort((a, b) => a.key - b.key).map(({ element }) => element);
}
