import { expect } from 'chai';
import { describe, it } from 'mocha';
import { apiErrors, failureToApiError, toApiError, toStatus } from '../../../../adapters/driving/api/index.js';
import { Plant, PlantRejected, StorageUnavailable, TokenIssuerUnavailable } from '../../../../core/index.js';
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
  const rejection = new PlantRejected('canary', { cause: new Error('canary') });
  const textRule = 'must not contain U+0000 or a lone surrogate';
  const idRule = 'id must be an integer from -9223372036854775808 to 9223372036854775807';
  const invalid = (newPlant: Parameters<typeof Plant.from>[0]) => {
    const result = Plant.from(newPlant);
    return { kind: 'invalid', violations: result.kind === 'invalid' ? result.violations : [] } as const;
  };

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
      invalid({ id: 1n, name: '\0', tag: '\ud800' }),
      { error: 40003, message: `name ${textRule}; tag ${textRule}` },
    ],
    [
      'an invalid id, naming fields with invalid text too',
      invalid({ id: 2n ** 63n, name: '\0' }),
      { error: 40002, message: `${idRule}; name ${textRule}` },
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
    [new PlantRejected('canary'), 50001],
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
