import { apiErrors, failureToApiError, toApiError, toStatus } from '@plant-store/adapters/api';
import { StorageUnavailable, TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';

// test/docs/documents.test.ts compares the numbers with those of the guide.
describe('apiErrors', () => {
  it('has a one-line message for each number, which begins with the status, and the time to wait of each 503', () => {
    for (const { message } of Object.values(apiErrors)) expect(message).to.match(/^[^\r\n]{10,}$/);
    expect(toStatus(apiErrors.alreadyStored)).to.equal(409);
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

describe('failureToApiError', () => {
  it('returns 50301 for the storage, 50304 for the token issuer, and 50001 for any other failure', () => {
    expect(failureToApiError(new StorageUnavailable('secret'))).to.equal(apiErrors.storageUnavailable);
    expect(failureToApiError(new TokenIssuerUnavailable('secret'))).to.equal(apiErrors.issuerUnavailable);
    expect(failureToApiError(undefined)).to.equal(apiErrors.internalError);
  });
});
