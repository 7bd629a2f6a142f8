import { expect } from 'chai';
import { describe, it } from 'mocha';
import { apiErrors, toApiError, toStatus } from '../../../../adapters/driving/api/index.js';

describe('apiErrors', () => {
  it('starts each number with its HTTP status, and has a one-line message for it', () => {
    for (const apiError of Object.values(apiErrors)) {
      expect(`${apiError.error}`).to.match(RegExp(`^${toStatus(apiError)}0`));
      expect(apiError.message).to.match(/^[^\r\n]{10,}$/);
    }
  });
});

describe('toApiError', () => {
  const inId = { field: 'id', rule: 'range', message: 'id is out of range' } as const;
  const inName = { field: 'name', rule: 'text', message: 'name has a NUL' } as const;
  const inTag = { field: 'tag', rule: 'text', message: 'tag has a NUL' } as const;

  for (const [what, violations, expected] of [
    ['invalid text', [inName, inTag], { error: 40003, message: 'name has a NUL; tag has a NUL' }],
    ['an invalid id', [inId, inName], { error: 40002, message: 'id is out of range; name has a NUL' }],
  ] as const) {
    it(`returns ${expected.error} for ${what}, naming every field`, () => {
      expect(toApiError({ kind: 'invalid', violations })).to.deep.equal(expected);
    });
  }
});
