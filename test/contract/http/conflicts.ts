import type { Cases } from '../contract.js';
import { expectOutcome, newPlant, randomId, type Service } from './service.js';

const CONCURRENT_CREATES = 30;

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
    const creates = Array.from({ length: CONCURRENT_CREATES }, (_, index) => newPlant({ name: `plant ${index}` }, id));
    const responses = await Promise.all(creates.map((create) => service.create(create)));
    const [created, ...others] = responses.sort((a, b) => a.status - b.status);
    expectOutcome(created, 200);
    for (const other of others) expectOutcome(other, 40901);
  },
};
