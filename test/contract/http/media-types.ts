import { headerCases, outcomeCase, plantStoreCase } from './case.js';
import { expectOutcome, newPlant } from './service.js';
import type { HttpCase } from './types.js';

const JSON_TYPES = [
  ...['application/json', 'Application/JSON', 'application/json;charset=utf-8'],
  ...['application/json; charset=UTF-8', 'application/json ; Charset=Utf-8 ; x=y'],
  ...['application/json; charset="utf-8"', 'application/json; charset="UTF-8"', 'application/json;'],
  ...['application/json; profile="a;charset=latin1"'],
  ...['application/json; profile="a\\";charset=latin1"; charset=utf-8'],
];

const OTHER_TYPES = [
  ...['', 'json', 'application/json5', 'application/jsonl', 'application/problem+json', 'application/json+x'],
  ...['application/json/x', 'application/*', '*/*', 'text/json', 'text/plain'],
  ...['application/x-www-form-urlencoded', 'application/json, application/json'],
  ...['text/plain, application/json', 'application/json; charset=latin1', 'application/json; charset=utf-16'],
  ...['application/json; charset="utf-8, latin1"', 'application/json; charset='],
  ...['application/json; charset=utf-8; charset=latin1'],
  ...['application/json; charset="utf-8"; profile="x"; charset=utf-16'],
];

/** Content-Type of the body. */
export const mediaTypeCases: readonly HttpCase[] = [
  ...headerCases('Content-Type', JSON_TYPES, 200),
  ...headerCases('Content-Type', OTHER_TYPES, 41501),
  outcomeCase('responds 41501 to a body without Content-Type', 41501, (service) =>
    service.create(newPlant(), { 'Content-Type': undefined }),
  ),
  plantStoreCase('responds 41501 to two Content-Type headers', async (service) => {
    for (const [first, second] of [
      ['application/json', 'text/plain'],
      ['text/plain', 'application/json'],
    ])
      expectOutcome(await service.create(newPlant(), { 'Content-Type': first, 'content-type': second }), 41501);
  }),
];
