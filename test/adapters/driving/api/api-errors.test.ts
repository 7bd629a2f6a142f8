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
  const TEXT = 'must not contain U+0000 or a lone surrogate';
  const RANGE = 'must be an integer from -9223372036854775808 to 9223372036854775807';
  const inId = { field: 'id', rule: 'range' } as const;
  const inName = { field: 'name', rule: 'text' } as const;
  const inTag = { field: 'tag', rule: 'text' } as const;

  for (const [what, violations, expected] of [
    ['invalid text', [inName, inTag], { error: 40003, message: `name ${TEXT}; tag ${TEXT}` }],
    ['an invalid id', [inId, inName], { error: 40002, message: `id ${RANGE}; name ${TEXT}` }],
  ] as const) {
    it(`returns ${expected.error} for ${what}, naming every field`, () => {
      expect(toApiError({ kind: 'invalid', violations })).to.deep.equal(expected);
    });
  }
});
