import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { outputOf } from './interop.js';

describe('The API reference', () => {
  it('has the types and comments of each entry point, which name only exported types', () => {
    const folder = temporaryFolder();
    outputOf(folder, [process.execPath, inRepository('test/interop/api-reference.js'), folder]);
    const pages = readdirSync(folder);
    for (const page of pages) {
      const [file, text] = [inRepository(`docs/api/${page}`), readFileSync(join(folder, page), 'utf8')];
      if (process.env['ACCEPT'] === '1') writeFileSync(file, text);
      const hint = `${file} differs; see docs/versions.md for what may change, then run npm run api to accept it`;
      expect(text, hint).to.equal(readFileSync(file, 'utf8'));
    }
    expect(readdirSync(inRepository('docs/api'))).to.have.members(pages);
  });
});
