import { casesFor, plantStoreCase } from './case.js';
import { expectOutcome, newPlant, OPTIONAL_TEXTS, randomId } from './service.js';
import type { HttpCase } from './types.js';

const CONCURRENT_CREATES = 30;

/** Pairs of plants that are not the same. */
const DIFFERENT: Readonly<Record<string, readonly [first: object, second: object]>> = {
  'another name': [{ name: 'a' }, { name: 'b' }],
  'the name in another letter case': [{ name: 'a' }, { name: 'A' }],
  'an accent in the name': [{ name: 'e' }, { name: 'é' }],
  'another Unicode form of the name': [{ name: '\u00e9' }, { name: 'e\u0301' }],
  'a compatibility form of the name': [{ name: 'ﬁ' }, { name: 'fi' }],
  'a leading space in the name': [{ name: 'a' }, { name: ' a' }],
  'a trailing space in the name': [{ name: 'a' }, { name: 'a ' }],
  'a byte order mark in the name': [{ name: 'a' }, { name: '\ufeffa' }],
  'another line break in the name': [{ name: 'a\nb' }, { name: 'a\r\nb' }],
  'an empty name instead of null': [{ name: 'null' }, { name: '' }],
  ...Object.assign({}, ...OPTIONAL_TEXTS.map(toDifferent)),
  'swapped name and tag': [
    { name: 'a', tag: 'b' },
    { name: 'b', tag: 'a' },
  ],
};

function toDifferent(field: string): typeof DIFFERENT {
  return {
    [`another ${field}`]: [{ [field]: 'a' }, { [field]: 'b' }],
    [`a trailing space in the ${field}`]: [{ [field]: 'a' }, { [field]: 'a ' }],
    [`an empty ${field} instead of none`]: [{}, { [field]: '' }],
    [`no ${field} instead of an empty one`]: [{ [field]: '' }, {}],
    [`the ${field} null instead of none`]: [{}, { [field]: 'null' }],
  };
}

const IDENTICAL = { 'without tag': {}, 'with an empty tag': { tag: '' }, 'with a tag': { tag: 'a' } };

/** An id belongs to one plant forever. */
export const conflictCases: readonly HttpCase[] = [
  ...casesFor(DIFFERENT, 'responds 40901 to a plant with the same id but %s', async (service, [first, second]) => {
    const id = randomId();
    expectOutcome(await service.create(newPlant(first, id)), 200);
    expectOutcome(await service.create(newPlant(second, id)), 40901);
  }),
  ...casesFor(IDENTICAL, 'responds 40902 to an identical plant %s', async (service, fields) => {
    const id = randomId();
    expectOutcome(await service.create(newPlant(fields, id)), 200);
    expectOutcome(await service.create(newPlant({ ...fields, unknown: 1 }, id)), 40902);
  }),
  plantStoreCase('does not change a stored plant', async (service) => {
    const id = randomId();
    expectOutcome(await service.create(newPlant({ name: 'first', tag: 'a' }, id)), 200);
    expectOutcome(await service.create(newPlant({ name: 'second', tag: 'b' }, id)), 40901);
    expectOutcome(await service.create(newPlant({ name: 'second', tag: 'b' }, id)), 40901);
    expectOutcome(await service.create(newPlant({ name: 'first', tag: 'a' }, id)), 40902);
  }),
  ...casesFor(
    {
      'with the same id': [(index: number) => ({ name: `plant ${index}` }), 40901],
      'of the same plant': [() => ({}), 40902],
    } as const,
    'accepts exactly one of many concurrent creates %s',
    async (service, [toFields, error]) => {
      const id = randomId();
      const creates = Array.from({ length: CONCURRENT_CREATES }, (_, index) => newPlant(toFields(index), id));
      const responses = await Promise.all(creates.map((create) => service.create(create)));
      const [created, ...others] = responses.sort((a, b) => a.status - b.status);
      expectOutcome(created, 200);
      for (const other of others) expectOutcome(other, error);
    },
  ),
];
