import { toApiError } from '@plant-store/adapters/api';
import { expect } from 'chai';
import { describe, it } from 'mocha';

// The HTTP contract shows 40901 and 40902.
describe('toApiError', () => {
  it('returns 40003 for strings that no storage stores, and 40002 for other violations, naming every field', () => {
    const text = 'must not contain U+0000 or a lone surrogate';
    const [name, tag] = [{ field: 'name', rule: 'text' } as const, { field: 'tag', rule: 'text' } as const];
    const unstorable = { error: 40003, message: `name ${text}; tag ${text}` };
    expect(toApiError({ kind: 'invalid', violations: [name, tag] })).to.deep.equal(unstorable);
    const id = { field: 'id', rule: 'range' } as const;
    const range = 'must be an integer from -9223372036854775808 to 9223372036854775807';
    const invalid = { error: 40002, message: `id ${range}; tag ${text}` };
    expect(toApiError({ kind: 'invalid', violations: [id, tag] })).to.deep.equal(invalid);
  });
});
