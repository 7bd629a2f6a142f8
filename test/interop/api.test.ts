import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { expectSnapshot } from '../support/snapshot.js';
import { temporaryFolder } from '../support/temporary.js';
import { outputOf } from './interop.js';

describe('The API reference', () => {
  it('has the types and comments of each entry point, which name only exported types', () => {
    const folder = temporaryFolder();
    outputOf(folder, [process.execPath, inRepository('test/interop/api-reference.js'), folder]);
    const pages = readdirSync(folder);
    for (const page of pages) expectSnapshot(`docs/api/${page}`, readFileSync(join(folder, page), 'utf8'));
    expect(readdirSync(inRepository('docs/api'))).to.have.members(pages);
  });
});
