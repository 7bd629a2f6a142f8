import type { Cases } from '../contract.js';
import { expectOutcome, expectThat, newPlant, parseObject, randomId, type Service } from './service.js';

/** Asserts 200 with exactly this plant. */
async function expectCreated(service: Service, body: string, plant: object): Promise<void> {
  const response = await service.create(body);
  const sort = (fields: object) => JSON.stringify(Object.entries(fields).sort());
  const isExact = sort(parseObject(response.body) ?? {}) === sort(plant);
  expectThat(response.status === 200 && isExact, `200 ${JSON.stringify(plant).slice(0, 300)}`, response);
}

/** Asserts that two ids are different: both can be created, with different names. */
async function expectDifferent(service: Service, first: bigint, second: bigint): Promise<void> {
  for (const id of [first, second]) await service.expectCreate(200, newPlant({ name: `${id}` }, id));
}

/** Expects a free id to be accepted in another spelling of an integer (JSON Schema 2020-12, "integer"). */
const isSpelled = (spell: (id: bigint) => string) => async (service: Service) => {
  const id = randomId() / 100_000n;
  await service.expectCreate(200, newPlant({}, spell(id)));
  await service.expectCreate(40902, newPlant({}, id));
};

/** Expects a fixed id to be accepted. */
const isId = (spelling: string, id: string) => async (service: Service) => {
  const first = await service.create(newPlant({}, spelling));
  // Another client may own the id; then both spellings conflict.
  const isTaken = parseObject(first.body)?.['error'] === 40901;
  expectThat(first.status === 200 || first.status === 409, '200 or 409', first);
  await service.expectCreate(isTaken ? 40901 : 40902, newPlant({}, id));
};

/** Expects a body with a free id to be accepted, and to contain this plant. */
const isAccepted = (toBody: (id: bigint) => string, plant: object) => async (service: Service) => {
  const id = randomId();
  await expectCreated(service, toBody(id), plant);
  await service.expectCreate(40902, newPlant(plant, id));
};

const isExact = (text: string) => async (service: Service) => {
  const fields = { name: text, tag: text };
  const body = newPlant(fields);
  await expectCreated(service, body, fields);
  await service.expectCreate(40902, body);
};

/** The response to a create. */
export const responseCases: Cases<Service> = {
  'returns exactly the name, and the tag if the request has one': async (service) => {
    for (const fields of [{ name: 'x' }, { name: 'x', tag: '' }])
      await expectCreated(service, newPlant(fields), fields);
  },
  'sends application/json without parameters': async (service) => {
    for (const response of [await service.create(), await service.create('{')])
      expectThat(response.headers['content-type'] === 'application/json', 'application/json', response);
  },
};

/** Exact ids. */
export const idCases: Cases<Service> = {
  'distinguishes ids beyond 2^53 that round to the same floating-point number': async (service) => {
    const id = (1n << 62n) | (BigInt.asUintN(62, randomId()) & ~1023n);
    await expectDifferent(service, id, id + 1n);
    await expectDifferent(service, id + 1022n, id + 1023n);
  },
  'distinguishes ids beyond 2^32 that end in the same 32 bits': async (service) => {
    const low = randomId() & 0xffff_ffffn;
    const high = randomId() >> 34n;
    await expectDifferent(service, (high << 33n) | low, (high << 33n) | (1n << 32n) | low);
  },
  'accepts an id spelled like 1.00': isSpelled((id) => `${id}.00`),
  'accepts an id spelled like 1E+0': isSpelled((id) => `${id}E+0`),
  'accepts an id spelled like 10e-1': isSpelled((id) => `${id}0e-1`),
  'accepts an id spelled like 0.1e1': isSpelled((id) => `${id / 10n}.${`${id % 10n}`.replace('-', '')}e1`),
  'accepts the id 9223372036854775807': isId('9223372036854775807', '9223372036854775807'),
  'accepts the id -9223372036854775808': isId('-9223372036854775808', '-9223372036854775808'),
  'accepts the id 1e3': isId('1e3', '1000'),
  'accepts the id -0.0': isId('-0.0', '0'),
  'accepts the id 0e999999': isId('0e999999', '0'),
};

/** Exact strings, and other bodies that are accepted. */
export const textCases: Cases<Service> = {
  'stores the empty string exactly': isExact(''),
  'stores leading and trailing whitespace exactly': isExact('  x \t \r\n'),
  'stores both letter cases exactly': isExact('Straße İı ẞ'),
  'stores composed characters exactly': isExact('\u00e9\u1e9b\u0323'),
  'stores decomposed characters exactly': isExact('e\u0301'),
  'stores astral characters exactly': isExact('🌱𝒫𠜎👨‍👩‍👧‍👦'),
  'stores byte order marks exactly': isExact('\ufeffx\ufeff'),
  'stores control characters exactly': isExact('\u0001\b\f\u001b\u007f\u0085\u009f\u2028'),
  'stores quotes and backslashes exactly': isExact('"\\\'`/\\u0000\\"'),
  'stores SQL exactly': isExact("'); DROP TABLE plants; --"),
  'stores a long string exactly': isExact('é漢🌱'.repeat(50_000)),
  'ignores unknown fields': isAccepted(
    (id) => `{"id":${id},"name":"x","colour":"green","Tag":1,"nested":{"id":"y"},"__proto__":{"tag":"y"}}`,
    { name: 'x' },
  ),
  'accepts a byte order mark before the JSON text': isAccepted((id) => `\ufeff{"id":${id},"name":"x"}`, { name: 'x' }),
  'accepts surrogates written as a pair of escapes': isAccepted((id) => `{"id":${id},"name":"\\ud83c\\udf31"}`, {
    name: '🌱',
  }),
  'accepts keys written with escapes': isAccepted((id) => `{"\\u0069d":${id},"\\u006eame":"x","t\\u0061g":"y"}`, {
    name: 'x',
    tag: 'y',
  }),
  'uses the last of duplicate keys': isAccepted(
    (id) => `{"id":"1","id":${id},"name":1,"name":"x","tag":"a","tag":"b"}`,
    { name: 'x', tag: 'b' },
  ),
};

const areDifferent = (first: object, second: object) => async (service: Service) => {
  const id = randomId();
  await service.expectCreate(200, newPlant(first, id));
  await service.expectCreate(40901, newPlant(second, id));
};

/** An id belongs to one plant forever. */
export const conflictCases: Cases<Service> = {
  'responds 40901 to another name': areDifferent({ name: 'a' }, { name: 'b' }),
  'responds 40901 to the name in another letter case': areDifferent({ name: 'a' }, { name: 'A' }),
  'responds 40901 to an accent in the name': areDifferent({ name: 'e' }, { name: 'é' }),
  'responds 40901 to another Unicode form of the name': areDifferent({ name: '\u00e9' }, { name: 'e\u0301' }),
  'responds 40901 to a trailing space in the name': areDifferent({ name: 'a' }, { name: 'a ' }),
  'responds 40901 to another tag': areDifferent({ tag: 'a' }, { tag: 'b' }),
  'responds 40901 to an empty tag instead of none': areDifferent({}, { tag: '' }),
  'responds 40901 to no tag instead of an empty one': areDifferent({ tag: '' }, {}),
  'responds 40902 to an identical plant': async (service) => {
    for (const fields of [{}, { tag: '' }, { tag: 'a' }]) {
      const id = randomId();
      await service.expectCreate(200, newPlant(fields, id));
      await service.expectCreate(40902, newPlant({ ...fields, unknown: 1 }, id));
    }
  },
  'does not change a stored plant': async (service) => {
    const id = randomId();
    await service.expectCreate(200, newPlant({ name: 'first', tag: 'a' }, id));
    await service.expectCreate(40901, newPlant({ name: 'second', tag: 'b' }, id));
    await service.expectCreate(40901, newPlant({ name: 'second', tag: 'b' }, id));
    await service.expectCreate(40902, newPlant({ name: 'first', tag: 'a' }, id));
  },
  'accepts exactly one of many concurrent creates with the same id': async (service) => {
    const id = randomId();
    const creates = Array.from({ length: 30 }, (_, index) => newPlant({ name: `plant ${index}` }, id));
    const responses = await Promise.all(creates.map((create) => service.create(create)));
    const [created, ...others] = responses.sort((a, b) => a.status - b.status);
    expectOutcome(created, 200);
    for (const other of others) expectOutcome(other, 40901);
  },
};
