import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Plant } from '../../core/index.js';

// In a separate file, because a bundle contains each module once.
describe('A plant from another copy of the core', () => {
  it('is rejected by Plant.assertAll, because its invariants may differ', async () => {
    const url = new URL('../../core/plant.js?another-copy', import.meta.url);
    const { Plant: OtherPlant }: typeof import('../../core/plant.js') = await import(url.href);
    const other = OtherPlant.from({ id: 1n, name: 'Monstera' });
    expect(other).to.have.property('kind', 'valid');
    expect(() => Plant.assertAll([other.kind === 'valid' && other.plant])).to.throw(
      TypeError,
      'plants[0] is not a Plant',
    );
  });
});
