import { toRequestId } from '@plant-store/adapters/api';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('toRequestId', () => {
  it('returns a valid header', () => {
    for (const id of ['a', 'x.y_z-1:2', 'x'.repeat(128)]) expect(toRequestId(id)).to.equal(id);
  });

  it('returns another random id for each other header', () => {
    const invalid = [undefined, '', 'x'.repeat(129), 'a b', 'a,b', 'a"b', 'a/b', 'Gr\xfcn', ['a', 'b']];
    const ids = new Set(invalid.map(toRequestId));
    for (const id of ids) expect(id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(ids).to.have.property('size', invalid.length);
  });
});
