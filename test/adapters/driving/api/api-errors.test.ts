import { expect } from 'chai';
import { describe, it } from 'mocha';
import { apiErrors, failureToApiError, statusOf, toApiError } from '../../../../adapters/driving/api/index.js';
import {
  Plant,
  PlantRejected,
  StorageUnavailable,
  TokenIssuerUnavailable,
  type Violation,
} from '../../../../core/index.js';
import { toPlant } from '../../../support/plants.js';

describe('apiErrors', () => {
  it('starts each number with its HTTP status', () => {
    for (const apiError of Object.values(apiErrors))
      expect(`${apiError.error}`).to.match(RegExp(`^${statusOf(apiError)}0`));
  });

  it('has a one-line message for each number', () => {
    for (const { message } of Object.values(apiErrors)) expect(message).to.match(/^[^\r\n]{10,}$/);
  });
});

describe('toApiError', () => {
  const newPlant = { id: 1n, name: 'Monstera' };
  const plant = toPlant(newPlant);

  it('returns undefined for a created plant', () => {
    expect(toApiError({ kind: 'created', plant })).to.equal(undefined);
  });

  it('returns 40901 for id-taken', () => {
    expect(toApiError({ kind: 'id-taken' })).to.include({ error: 40901 });
  });

  it('returns 40902 for already-stored', () => {
    expect(toApiError({ kind: 'already-stored', plant })).to.include({ error: 40902 });
  });

  it('returns 50002 for a rejected plant, without the message of the storage', () => {
    const apiError = toApiError({
      kind: 'rejected',
      error: new PlantRejected('canary', { cause: new Error('canary') }),
    });
    expect(apiError).to.deep.equal({ error: 50002, message: 'The storage rejects this plant' });
  });

  it('returns 40003 for an invalid string, and names the fields', () => {
    expect(toApiError({ kind: 'invalid', violations: validate({ id: 1n, name: '\0', tag: '\ud800' }) })).to.deep.equal({
      error: 40003,
      message: 'name must not contain U+0000 or a lone surrogate; tag must not contain U+0000 or a lone surrogate',
    });
  });

  it('returns 40002 for an invalid id, and names fields with invalid strings too', () => {
    expect(toApiError({ kind: 'invalid', violations: validate({ id: 2n ** 63n, name: '\0' }) })).to.deep.equal({
      error: 40002,
      message:
        'id must be an integer from -9223372036854775808 to 9223372036854775807; name must not contain U+0000 or a lone surrogate',
    });
  });
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

function validate(newPlant: Parameters<typeof Plant.from>[0]): readonly Violation[] {
  const result = Plant.from(newPlant);
  return result.kind === 'invalid' ? result.violations : [];
}
