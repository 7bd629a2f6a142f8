import { expect } from 'chai';
import { describe, it } from 'mocha';
import { apiErrors, statusOf } from '../../adapters/driving/api/index.js';
import { operations } from '../adapters/driving/koa/description.js';
import { section } from '../support/guide.js';

const GUIDE = 'docs/http-api.md';
const text = section(GUIDE, 'HTTP API');

describe(GUIDE, () => {
  it('has every error number of the code, under its status, and no other', () => {
    const rows = section(GUIDE, 'Errors').matchAll(/^\| (\d{3}) \| (\d{5}) \| [^|]{10,} \| [^|]{5,} \|$/gm);
    const errors = Object.values(apiErrors);
    expect([...rows].map(([, status, error]) => [status, error].map(Number))).to.deep.equal(
      errors.map((apiError) => [statusOf(apiError), apiError.error]),
    );
    const named = [...text.matchAll(/\b[1-5]\d{4}\b/g)].map(([error]) => Number(error));
    expect(errors.map(({ error }) => error)).to.include.members(named);
  });

  it('has every header that the description declares', () => {
    const responses = Object.values(operations).flatMap((operation) => Object.values(operation.responses));
    const names = responses.flatMap(({ headers }) => Object.keys(headers ?? {}));
    const rows = [...section(GUIDE, 'Headers').matchAll(/^\| `([\w-]+)/gm)].map(([, name]) => name);
    expect(rows).to.include.members(names);
  });
});
