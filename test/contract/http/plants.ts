import { casesFor, plantStoreCase } from './case.js';
import { expectOutcome, expectThat, newPlant, parseObject, randomId, type Service } from './service.js';
import type { HttpCase } from './types.js';

const MAX_ID = 2n ** 63n - 1n;

/** Returns a tenth of an id, with one decimal place. */
const tenth = (id: bigint) => `${id / 10n}.${`${id % 10n}`.replace('-', '')}`;

/** Other spellings of an integer with more than one digit (JSON Schema 2020-12, "integer"). */
const SPELLINGS: Readonly<Record<string, (id: bigint) => string>> = {
  '1.00': (id) => `${id}.00`,
  '1E+0': (id) => `${id}E+0`,
  '10e-1': (id) => `${id}0e-1`,
  '0.1e1': (id) => `${tenth(id)}e1`,
};

/** Fixed ids, which another client may have used, and other spellings of them. */
const LITERAL_IDS: Readonly<Record<string, string>> = {
  ...{ [`${MAX_ID}`]: `${MAX_ID}`, [`${-MAX_ID - 1n}`]: `${-MAX_ID - 1n}`, '9007199254740993': '9007199254740993' },
  ...{ '4294967296': '4294967296', '1e3': '1000', '-4.00': '-4', '-0.0': '0', '0e999999': '0' },
};

/** Texts that a layer might change. */
const TEXTS: Readonly<Record<string, string>> = {
  'the empty string': '',
  'leading and trailing whitespace': '  x \t \r\n',
  'both letter cases': 'Straße İı ẞ',
  'composed characters': '\u00e9\u1e9b\u0323',
  'decomposed characters': 'e\u0301',
  'astral characters': '🌱𝒫𠜎👨‍👩‍👧‍👦',
  'byte order marks': '\ufeffx\ufeff',
  'control characters': '\u0001\b\f\u001b\u007f\u0085\u009f\u2028',
  'quotes and backslashes': '"\\\'`/\\u0000\\"',
  SQL: "'); DROP TABLE plants; --",
  'a long string': 'é漢🌱'.repeat(50_000),
};

interface Texts {
  readonly name: string;
  readonly tag?: string;
}

/** Valid bodies with an id, and the strings of the plants in them. */
const ACCEPTED: Readonly<Record<string, (id: bigint) => readonly [body: string, plant: Texts]>> = {
  'unknown fields': (id) => [`{"id":${id},"name":"x","colour":"green","Tag":1,"nested":{"id":"y"}}`, { name: 'x' }],
  'a __proto__ key': (id) => [`{"id":${id},"name":"x","__proto__":{"tag":"y"}}`, { name: 'x' }],
  'a byte order mark before the JSON text': (id) => [`\ufeff{"id":${id},"name":"x"}`, { name: 'x' }],
  'surrogates written as a pair of escapes': (id) => [`{"id":${id},"name":"\\ud83c\\udf31"}`, { name: '🌱' }],
  'keys written with escapes': (id) => [`{"\\u0069d":${id},"\\u006eame":"x","t\\u0061g":"y"}`, { name: 'x', tag: 'y' }],
  'duplicate keys, using the last': (id) => [
    `{"id":"1","id":${id},"name":1,"name":"x","tag":"a","tag":"b"}`,
    { name: 'x', tag: 'b' },
  ],
};

/** Asserts 200 with exactly this plant. */
async function expectCreated(service: Service, body: string, plant: object): Promise<void> {
  const response = await service.create(body);
  const sort = (fields: object) => JSON.stringify(Object.entries(fields).sort());
  const isExact = sort(parseObject(response.body) ?? {}) === sort(plant);
  expectThat(response.status === 200 && isExact, `200 ${JSON.stringify(plant).slice(0, 300)}`, response);
}

/** Asserts that two ids are different: both can be created, with different names. */
async function expectDifferent(service: Service, first: bigint, second: bigint): Promise<void> {
  for (const id of [first, second]) expectOutcome(await service.create(newPlant({ name: `${id}` }, id)), 200);
}

/** The response to a create. */
export const responseCases: readonly HttpCase[] = [
  plantStoreCase('returns exactly the name, and the tag if the request has one', async (service) => {
    for (const fields of [{ name: 'x' }, { name: 'x', tag: '' }])
      await expectCreated(service, newPlant(fields), fields);
  }),
  plantStoreCase('sends application/json without parameters', async (service) => {
    for (const response of [await service.create(), await service.create('{')]) {
      expectThat(response.headers['content-type'] === 'application/json', 'application/json', response);
    }
  }),
];

/** Exact ids. */
export const idCases: readonly HttpCase[] = [
  plantStoreCase('distinguishes ids beyond 2^53 that round to the same floating-point number', async (service) => {
    const id = (1n << 62n) | (BigInt.asUintN(62, randomId()) & ~1023n);
    await expectDifferent(service, id, id + 1n);
    await expectDifferent(service, id + 1022n, id + 1023n);
  }),
  plantStoreCase('distinguishes ids beyond 2^32 that end in the same 32 bits', async (service) => {
    const low = randomId() & 0xffff_ffffn;
    const high = randomId() >> 34n;
    await expectDifferent(service, (high << 33n) | low, (high << 33n) | (1n << 32n) | low);
  }),
  ...casesFor(SPELLINGS, 'accepts an id spelled like %s', async (service, spell) => {
    const id = randomId() / 100_000n;
    expectOutcome(await service.create(newPlant({}, spell(id))), 200);
    expectOutcome(await service.create(newPlant({}, id)), 40902);
  }),
  ...Object.entries(LITERAL_IDS).map(([spelling, id]) =>
    plantStoreCase(`accepts the id ${spelling}`, async (service) => {
      const first = await service.create(newPlant({}, spelling));
      // Another client may own the id; then both spellings conflict.
      const isTaken = parseObject(first.body)?.['error'] === 40901;
      expectThat(first.status === 200 || first.status === 409, '200 or 409', first);
      expectOutcome(await service.create(newPlant({}, id)), isTaken ? 40901 : 40902);
    }),
  ),
];

/** Exact strings, and other bodies that are accepted. */
export const textCases: readonly HttpCase[] = [
  ...casesFor(TEXTS, 'stores %s exactly', async (service, text) => {
    const fields = { name: text, tag: text };
    const body = newPlant(fields);
    await expectCreated(service, body, fields);
    expectOutcome(await service.create(body), 40902);
  }),
  ...casesFor(ACCEPTED, 'accepts %s', async (service, toBody) => {
    const id = randomId();
    const [body, plant] = toBody(id);
    await expectCreated(service, body, plant);
    expectOutcome(await service.create(newPlant(plant, id)), 40902);
  }),
];
