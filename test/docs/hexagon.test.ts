import { describe, it } from 'mocha';
import { expectSnapshot } from '../support/snapshot.js';
import { drawHexagon } from './hexagon.js';
import { importsIn } from './imports.js';

describe('docs/hexagon.svg', () => {
  it('matches the imports of the code', async () => {
    expectSnapshot('docs/hexagon.svg', await drawHexagon(['core', 'adapters', 'composition'].flatMap(importsIn)));
  });
});
