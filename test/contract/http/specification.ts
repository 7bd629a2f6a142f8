import { specificationCase } from './case.js';
import type { HttpResponse } from './connection.js';
import { expectThat, isJson, newPlant, parseObject, simpleId } from './service.js';
import type { HttpCase } from './types.js';

const INT32_MAX = 2 ** 31 - 1;

const simplePlant = (fields: object = {}) => newPlant(fields, simpleId());

/** Bodies that are not a NewPlant, even for a service that converts between numbers and strings. */
const INVALID: Readonly<Record<string, () => string>> = {
  'a NewPlant without name': () => `{"id":${simpleId()}}`,
  'a NewPlant without id': () => '{"name":"Monstera"}',
  'a NewPlant with a word as its id': () => newPlant({}, '"Monstera"'),
  'a NewPlant with an object as its name': () => simplePlant({ name: {} }),
  'a NewPlant with an object as its tag': () => simplePlant({ tag: {} }),
  'an empty object': () => '{}',
  'an array': () => '[]',
  'a string': () => '"Monstera"',
  'a body that is cut off': () => simplePlant().slice(0, -1),
  'a body that is not JSON': () => 'name=Monstera',
  'an empty body': () => '',
};

const NO_CREDENTIAL: Readonly<Record<string, string | undefined>> = {
  'without a credential': undefined,
  'with a scheme other than Bearer': `Basic ${btoa('garden:garden')}`,
  'with an invalid token': 'Bearer bm90LXRoZS10b2tlbg',
};

const isClientError = ({ status }: HttpResponse) => status >= 400 && status < 500;

type IsExpected = (plant: Readonly<Record<string, unknown>>) => boolean;

const isAny: IsExpected = () => true;
const isFicus: IsExpected = ({ name }) => name === 'Ficus';

/** Valid bodies, and what the response to each has. */
const CREATED: Readonly<Record<string, readonly [body: () => string, expected: string, IsExpected]>> = {
  'creates a plant with name and tag': [() => simplePlant({ tag: 'indoor' }), 'a Plant', isAny],
  'creates a plant without tag': [simplePlant, 'a Plant', isAny],
  'returns the name of the plant': [() => simplePlant({ name: 'Ficus' }), 'the name Ficus', isFicus],
  'returns the tag of the plant': [() => simplePlant({ tag: 'x' }), 'the tag x', ({ tag }) => tag === 'x'],
  'returns a string tag, or none, if the request has no tag': [
    simplePlant,
    'a string tag, or none',
    ({ tag }) => tag === undefined || typeof tag === 'string',
  ],
  'does not return the id': [simplePlant, 'no id', (plant) => !('id' in plant)],
  'accepts an id of more than 32 bits': [() => newPlant({}, simpleId() | (1n << 40n)), 'a Plant', isAny],
  'accepts members in any order, with white space and escapes': [
    () => `\n{ "name" : "\\u0046icus" ,\t"tag":"indoor", "id" : ${simpleId()}\r\n}`,
    'the name Ficus',
    isFicus,
  ],
};

/** What the specification requires of every implementation, and nothing else. */
export const specificationCases: readonly HttpCase[] = [
  ...Object.entries(CREATED).map(([name, [body, expected, isExpected]]) =>
    specificationCase(name, async (service) => {
      const response = await service.create(body());
      const plant = parseObject(response.body);
      expectThat(response.status === 200 && plant !== undefined && isExpected(plant), `200 with ${expected}`, response);
    }),
  ),
  specificationCase('sends a Plant as application/json', async (service) => {
    const response = await service.create(simplePlant());
    expectThat(response.status === 200 && isJson(response), '200 as application/json', response);
  }),

  ...Object.entries(NO_CREDENTIAL).map(([what, authorization]) =>
    specificationCase(`rejects a request ${what}`, async (service) => {
      const response = await service.create(simplePlant(), { Authorization: authorization });
      expectThat(response.status >= 400, 'a rejection', response);
    }),
  ),
  ...Object.entries(INVALID).map(([what, body]) =>
    specificationCase(`rejects ${what}`, async (service) => {
      const response = await service.create(body());
      expectThat(isClientError(response), 'a status from 400 to 499', response);
    }),
  ),

  specificationCase('sends an Error object with every 400', async (service) => {
    for (const body of Object.values(INVALID)) {
      const response = await service.create(body());
      if (response.status !== 400) continue;
      const { error, message } = parseObject(response.body) ?? {};
      const isError = Number.isInteger(error) && Math.abs(Number(error)) <= INT32_MAX && typeof message === 'string';
      expectThat(isError && isJson(response), 'an Error object, as application/json', response);
    }
  }),
];
