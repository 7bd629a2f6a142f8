import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

const EXAMPLES = inRepository('docs/examples');
const CODE_LINES_MAX = 59;

/** The adapter that the guide to adapters leads through; its length is that of a whole adapter. */
const ADAPTER = 'jsonl-repository';

describe('The examples', () => {
  for (const example of readdirSync(EXAMPLES)) {
    it(`${example} says what it shows`, () => {
      expect(existsSync(join(EXAMPLES, example, 'README.md'))).to.equal(true);
    });
    if (example === ADAPTER) continue;
    it(`${example} is a program of under 60 lines`, () => {
      const code = readdirSync(join(EXAMPLES, example)).filter((name) => /\.[jt]s$/.test(name));
      const lines = code.flatMap((name) => readFileSync(join(EXAMPLES, example, name), 'utf8').split('\n'));
      const codeLines = lines.filter((line) => !/^\s*(\/\/|\/?\*|$)/.test(line));
      expect(codeLines.length).to.be.within(1, CODE_LINES_MAX);
    });
  }

  for (const document of ['README.md', 'docs/embed.md']) {
    it(`the unit test in ${document} is the one that is run`, () => {
      const file = readFileSync(join(EXAMPLES, 'use-case-test/create-plant.test.js'), 'utf8');
      expect(readFileSync(inRepository(document), 'utf8')).to.include(`\`\`\`js\n${file}\`\`\`\n`);
    });
  }
});
