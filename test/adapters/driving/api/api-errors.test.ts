import { expect } from 'chai';
import { describe, it } from 'mocha';
import { apiErrors, failureToApiError, toApiError, toStatus } from '../../../../adapters/driving/api/index.js';
import { StorageUnavailable, TokenIssuerUnavailable } from '../../../../core/index.js';
import { toPlant } from '../../../support/plants.js';

describe('apiErrors', () => {
  it('starts each number with its HTTP status, and has a one-line message for it', () => {
    for (const apiError of Object.values(apiErrors)) {
      expect(`${apiError.error}`).to.match(RegExp(`^${toStatus(apiError)}0`));
      expect(apiError.message).to.match(/^[^\r\n]{10,}$/);
    }
  });
});

describe('toApiError', () => {
  const plant = toPlant({ id: 1n, name: 'Monstera' });
  const rejection = new Error('canary');
  const inId = { field: 'id', rule: 'range', message: 'id is out of range' } as const;
  const inName = { field: 'name', rule: 'text', message: 'name has a NUL' } as const;
  const inTag = { field: 'tag', rule: 'text', message: 'tag has a NUL' } as const;

  for (const [what, outcome, expected] of [
    ['a created plant', { kind: 'created', plant }, undefined],
    ['id-taken', { kind: 'id-taken' }, apiErrors.idTaken],
    ['already-stored', { kind: 'already-stored', plant }, apiErrors.alreadyStored],
    [
      'a rejected plant, without the message of the storage',
      { kind: 'rejected', error: rejection },
      { error: 50002, message: 'The storage rejects this plant' },
    ],
    [
      'invalid text, naming the fields',
      { kind: 'invalid', violations: [inName, inTag] },
      { error: 40003, message: 'name has a NUL; tag has a NUL' },
    ],
    [
      'an invalid id, naming fields with invalid text too',
      { kind: 'invalid', violations: [inId, inName] },
      { error: 40002, message: 'id is out of range; name has a NUL' },
    ],
  ] as const) {
    it(`returns ${expected?.error} for ${what}`, () => {
      expect(toApiError(outcome)).to.deep.equal(expected);
    });
  }
});

describe('failureToApiError', () => {
  for (const [failure, error] of [
    [new StorageUnavailable('canary'), 50301],
    [new TokenIssuerUnavailable('canary'), 50304],
    [new Error('canary'), 50001],
    [undefined, 50001],
  ] as const) {
    it(`returns ${error} for ${failure?.name}, without its message`, () => {
      const apiError = failureToApiError(failure);
      expect(apiError).to.include({ error });
      expect(apiError.message).to.not.include('canary');
    });
  }
});
