import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

const EXAMPLES = inRepository('docs/examples');
const MAX_CODE_LINES = 59;

/** A complete adapter, which may be longer. */
const ADAPTER = 'jsonl-repository';

describe('The examples', () => {
  for (const example of readdirSync(EXAMPLES)) {
    it(`${example} has a README`, () => {
      expect(existsSync(join(EXAMPLES, example, 'README.md'))).to.equal(true);
    });
    if (example === ADAPTER) continue;
    it(`${example} has fewer than 60 lines of code`, () => {
      const code = readdirSync(join(EXAMPLES, example)).filter((name) => /\.[jt]s$/.test(name));
      const lines = code.flatMap((name) => readFileSync(join(EXAMPLES, example, name), 'utf8').split('\n'));
      const codeLines = lines.filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line));
      expect(codeLines.length).to.be.within(1, MAX_CODE_LINES);
    });
  }

  it('README.md quotes the unit test', () => {
    const file = readFileSync(join(EXAMPLES, 'use-case-test/create-plant.test.js'), 'utf8');
    expect(readFileSync(inRepository('README.md'), 'utf8')).to.include(`\`\`\`js\n${file}\`\`\`\n`);
  });
});
