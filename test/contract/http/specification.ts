import type { Cases } from '../contract.js';
import { expectThat, isJson, newPlant, parseObject, type Service, simpleId } from './service.js';

const INT32_MAX = 2 ** 31 - 1;

const simplePlant = (fields: object = {}) => newPlant(fields, simpleId());

/** Expects a valid body to be created, and the response to have what it must have. */
const isCreated =
  (toBody: () => string, expected: string, isExpected: (plant: Readonly<Record<string, unknown>>) => boolean) =>
  async (service: Service) => {
    const response = await service.create(toBody());
    const plant = parseObject(response.body);
    expectThat(response.status === 200 && plant !== undefined && isExpected(plant), `200 with ${expected}`, response);
  };

/** Expects a rejection of a request that has such an Authorization. */
const isUnauthorized = (authorization: string | undefined) => async (service: Service) => {
  const response = await service.create(simplePlant(), { Authorization: authorization });
  expectThat(response.status >= 400, 'a rejection', response);
};

/** Expects a rejection of a body and, if the status is 400, an Error object. */
const isInvalid = (toBody: () => string) => async (service: Service) => {
  const response = await service.create(toBody());
  expectThat(response.status >= 400 && response.status < 500, 'a status from 400 to 499', response);
  if (response.status !== 400) return;
  const { error, message } = parseObject(response.body) ?? {};
  const isError = Number.isInteger(error) && Math.abs(Number(error)) <= INT32_MAX && typeof message === 'string';
  expectThat(isError && isJson(response), 'an Error object, as application/json', response);
};

/**
 * What the specification requires of every implementation, and nothing else. Invalid bodies are not a NewPlant even for
 * a service that converts between numbers and strings.
 */
export const specificationCases: Cases<Service> = {
  'creates a plant with name and tag': isCreated(
    () => simplePlant({ name: 'Ficus', tag: 'x' }),
    'the name Ficus and the tag x',
    ({ name, tag }) => name === 'Ficus' && tag === 'x',
  ),
  'creates a plant without tag, and returns a string tag or none': isCreated(
    simplePlant,
    'a string tag, or none',
    ({ tag }) => tag === undefined || typeof tag === 'string',
  ),
  'does not return the id': isCreated(simplePlant, 'no id', (plant) => !('id' in plant)),
  'accepts an id of more than 32 bits': isCreated(
    () => newPlant({}, simpleId() | (1n << 40n)),
    'a Plant',
    () => true,
  ),
  'accepts members in any order, with white space and escapes': isCreated(
    () => `\n{ "name" : "\\u0046icus" ,\t"tag":"indoor", "id" : ${simpleId()}\r\n}`,
    'the name Ficus',
    ({ name }) => name === 'Ficus',
  ),
  'sends a Plant as application/json': async (service) => {
    const response = await service.create(simplePlant());
    expectThat(response.status === 200 && isJson(response), '200 as application/json', response);
  },

  'rejects a request without a credential': isUnauthorized(undefined),
  'rejects a request with a scheme other than Bearer': isUnauthorized(`Basic ${btoa('garden:garden')}`),
  'rejects a request with an invalid token': isUnauthorized('Bearer bm90LXRoZS10b2tlbg'),

  'rejects a NewPlant without name': isInvalid(() => `{"id":${simpleId()}}`),
  'rejects a NewPlant without id': isInvalid(() => '{"name":"Monstera"}'),
  'rejects a NewPlant with a word as its id': isInvalid(() => newPlant({}, '"Monstera"')),
  'rejects a NewPlant with an object as its name': isInvalid(() => simplePlant({ name: {} })),
  'rejects a NewPlant with an object as its tag': isInvalid(() => simplePlant({ tag: {} })),
  'rejects an array': isInvalid(() => '[]'),
  'rejects a string': isInvalid(() => '"Monstera"'),
  'rejects a body that is cut off': isInvalid(() => simplePlant().slice(0, -1)),
  'rejects a body that is not JSON': isInvalid(() => 'name=Monstera'),
  'rejects an empty body': isInvalid(() => ''),
};
