import { apiErrors, toApiError } from '@plant-store/adapters/api';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('apiErrors', () => {
  it('tell clients how long to wait if the storage, the service or the token issuer is unavailable', () => {
    const { storageUnavailable, overloaded, issuerUnavailable } = apiErrors;
    const seconds = [storageUnavailable, overloaded, issuerUnavailable].map(({ headers }) => headers['Retry-After']);
    expect(seconds).to.deep.equal(['5', '1', '30']);
  });
});

// The HTTP contract shows 40901 and 40902.
describe('toApiError', () => {
  it('returns 40003 for strings that no storage stores, and 40002 for other violations, naming every field', () => {
    const [name, tag] = [{ field: 'name', rule: 'text' } as const, { field: 'tag', rule: 'text' } as const];
    const text = 'must not contain U+0000 or a lone surrogate';
    const unstorable = { error: 40003, message: `name ${text}; tag ${text}` };
    expect(toApiError({ kind: 'invalid', violations: [name, tag] })).to.deep.equal(unstorable);
    const [id, type] = [{ field: 'id', rule: 'range' } as const, { field: 'name', rule: 'type' } as const];
    const range = 'must be an integer from -9223372036854775808 to 9223372036854775807';
    const invalid = { error: 40002, message: `id ${range}; name has the wrong type; tag ${text}` };
    expect(toApiError({ kind: 'invalid', violations: [id, type, tag] })).to.deep.equal(invalid);
  });
});
