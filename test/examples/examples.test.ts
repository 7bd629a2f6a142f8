import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

const EXAMPLES = inRepository('docs/examples');

describe('The examples', () => {
  for (const example of readdirSync(EXAMPLES)) {
    it(`${example} has a README`, () => {
      expect(existsSync(join(EXAMPLES, example, 'README.md'))).to.equal(true);
    });
  }

  it('README.md quotes the unit test', () => {
    const file = readFileSync(join(EXAMPLES, 'use-case-test/create-plant.test.js'), 'utf8');
    expect(readFileSync(inRepository('README.md'), 'utf8')).to.include(`\`\`\`js\n${file}\`\`\`\n`);
  });
});
