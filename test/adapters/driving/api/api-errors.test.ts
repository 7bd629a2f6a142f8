import { apiErrors, failureToApiError, toApiError, toStatus } from '@plant-store/adapters/api';
import { StorageUnavailable, TokenIssuerUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toPlant } from '../../../support/plants.js';

describe('apiErrors', () => {
  it('has the numbers of the HTTP API, whose first digits are the status, and a one-line message for each', () => {
    const all = Object.values(apiErrors);
    expect(all.map(({ error }) => error)).to.deep.equal([
      ...[40000, 40001, 40002, 40003, 40101, 40102, 40401, 40501, 40801, 40901, 40902],
      ...[41301, 41501, 41501, 41701, 43101, 50001, 50002, 50301, 50302, 50304],
    ]);
    expect(toStatus(apiErrors.alreadyStored)).to.equal(409);
    for (const { message } of all) expect(message).to.match(/^[^\r\n]{10,}$/);
  });

  it('has a challenge with each 401, the time to wait, in seconds, with each 503, and the only encoding', () => {
    const headers = Object.values(apiErrors).flatMap((each) => ('headers' in each ? [[each.error, each.headers]] : []));
    expect(headers).to.deep.equal([
      [40101, { 'WWW-Authenticate': 'Bearer realm="plant-store"' }],
      [40102, { 'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"' }],
      [41501, { 'Accept-Encoding': 'identity' }],
      [50301, { 'Retry-After': '5' }],
      [50302, { 'Retry-After': '1' }],
      [50304, { 'Retry-After': '30' }],
    ]);
  });
});

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

  it('tells a retry of the same plant, a different plant with its id, and a plant that the storage rejects apart', () => {
    const plant = toPlant({ id: 1n, name: 'Monstera' });
    expect(toApiError({ kind: 'already-stored', plant })).to.equal(apiErrors.alreadyStored);
    expect(toApiError({ kind: 'id-conflict' })).to.equal(apiErrors.idConflict);
    expect(toApiError({ kind: 'rejected', error: new Error('secret') })).to.equal(apiErrors.plantRejected);
  });
});

describe('failureToApiError', () => {
  it('returns 50301 for the storage, 50304 for the token issuer, and 50001 for any other failure', () => {
    expect(failureToApiError(new StorageUnavailable('secret'))).to.equal(apiErrors.storageUnavailable);
    expect(failureToApiError(new TokenIssuerUnavailable('secret'))).to.equal(apiErrors.issuerUnavailable);
    expect(failureToApiError(undefined)).to.equal(apiErrors.internalError);
  });
});
