import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, request } from '../../../support/raw-http.js';
import { create, HEADERS, newPlant, type Start, sharedService, verdict } from '../support.js';

const JSON_TYPES = [
  'application/json',
  'Application/JSON',
  'application/json;charset=utf-8',
  'application/json; charset=UTF-8',
  'application/json ; Charset=Utf-8 ; x=y',
  'application/json; charset="utf-8"',
  'application/json; charset="UTF-8"',
  'application/json; profile="a;charset=latin1"',
  'application/json; profile="a\\";charset=latin1"; charset=utf-8',
  'application/json;',
];

const OTHER_TYPES = [
  '',
  'json',
  'application/json5',
  'application/jsonl',
  'application/problem+json',
  'application/json+x',
  'application/json/x',
  'application/*',
  '*/*',
  'text/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'application/json, application/json',
  'text/plain, application/json',
  'application/json; charset=latin1',
  'application/json; charset=utf-16',
  'application/json; charset="utf-8, latin1"',
  'application/json; charset=',
  'application/json; charset=utf-8; charset=latin1',
  'application/json; charset=utf-8; Charset = utf-8',
  'application/json; charset="utf-8"; profile="x"; charset=utf-16',
];

/** What a body may be said to be. */
export function mediaTypes(start: Start): void {
  describe('media types', () => {
    const service = sharedService(start);

    for (const type of JSON_TYPES) {
      it(`takes ${type}`, async () => {
        expect(verdict(await create(service(), newPlant(), { 'Content-Type': type }))).to.equal(200);
      });
    }

    for (const type of OTHER_TYPES) {
      it(`refuses ${type || 'an empty Content-Type'}`, async () => {
        expect(verdict(await create(service(), newPlant(), { 'Content-Type': type }))).to.equal(41501);
      });
    }

    it('refuses a body without Content-Type', async () => {
      const { Authorization } = HEADERS;
      expect(verdict(await exchange(service().port, request('POST /plants', { Authorization }, newPlant())))).to.equal(
        41501,
      );
    });

    for (const [first, second] of [
      ['application/json', 'text/plain'],
      ['text/plain', 'application/json'],
    ] as const) {
      it(`refuses two Content-Type headers, ${first} before ${second}`, async () => {
        const both = { 'Content-Type': first, 'content-type': second };
        expect(verdict(await create(service(), newPlant(), both))).to.equal(41501);
      });
    }
  });
}
