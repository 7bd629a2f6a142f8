import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../support/catch-error.js';
import { inRepository } from '../support/paths.js';

describe('The package', () => {
  const { exports } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
  for (const path of Object.keys(exports)) {
    it(`exports something from ${path}`, async () => {
      const options = path.endsWith('.json') ? { with: { type: 'json' } } : {};
      expect(Object.keys(await import(path.replace('.', 'plant-store'), options))).not.to.deep.equal([]);
    });
  }

  it('does not export internal modules', async () => {
    const error = await catchError(import('plant-store/dist/core/plant.js' as string));
    expect(error).to.have.property('code', 'ERR_PACKAGE_PATH_NOT_EXPORTED');
  });
});
