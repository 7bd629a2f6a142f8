import { casesFor, plantStoreCase } from './case.js';
import { expectOutcome, newPlant, randomId } from './service.js';
import type { HttpCase } from './types.js';

const CONCURRENT_CREATES = 30;

/** Pairs of plants that are not the same. */
const DIFFERENT: Readonly<Record<string, readonly [first: object, second: object]>> = {
  'another name': [{ name: 'a' }, { name: 'b' }],
  'the name in another letter case': [{ name: 'a' }, { name: 'A' }],
  'an accent in the name': [{ name: 'e' }, { name: 'é' }],
  'another Unicode form of the name': [{ name: '\u00e9' }, { name: 'e\u0301' }],
  'a trailing space in the name': [{ name: 'a' }, { name: 'a ' }],
  'another tag': [{ tag: 'a' }, { tag: 'b' }],
  'an empty tag instead of none': [{}, { tag: '' }],
  'no tag instead of an empty one': [{ tag: '' }, {}],
};

/** An id belongs to one plant forever. */
export const conflictCases: readonly HttpCase[] = [
  ...casesFor(DIFFERENT, 'responds 40901 to a plant with the same id but %s', async (service, [first, second]) => {
    const id = randomId();
    expectOutcome(await service.create(newPlant(first, id)), 200);
    expectOutcome(await service.create(newPlant(second, id)), 40901);
  }),
  plantStoreCase('responds 40902 to an identical plant', async (service) => {
    for (const fields of [{}, { tag: '' }, { tag: 'a' }]) {
      const id = randomId();
      expectOutcome(await service.create(newPlant(fields, id)), 200);
      expectOutcome(await service.create(newPlant({ ...fields, unknown: 1 }, id)), 40902);
    }
  }),
  plantStoreCase('does not change a stored plant', async (service) => {
    const id = randomId();
    expectOutcome(await service.create(newPlant({ name: 'first', tag: 'a' }, id)), 200);
    expectOutcome(await service.create(newPlant({ name: 'second', tag: 'b' }, id)), 40901);
    expectOutcome(await service.create(newPlant({ name: 'second', tag: 'b' }, id)), 40901);
    expectOutcome(await service.create(newPlant({ name: 'first', tag: 'a' }, id)), 40902);
  }),
  plantStoreCase('accepts exactly one of many concurrent creates with the same id', async (service) => {
    const id = randomId();
    const creates = Array.from({ length: CONCURRENT_CREATES }, (_, index) => newPlant({ name: `plant ${index}` }, id));
    const responses = await Promise.all(creates.map((create) => service.create(create)));
    const [created, ...others] = responses.sort((a, b) => a.status - b.status);
    expectOutcome(created, 200);
    for (const other of others) expectOutcome(other, 40901);
  }),
];
