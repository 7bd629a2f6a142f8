import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';

/** A marker, such as `<!-- quote core/plant.ts: static from( … } -->`, and the code block after it. */
const QUOTE = /<!-- quote (\S+): (.+?)(?: … (.+?))? -->\n```(\w+)\n(.*?)```\n/gs;

describe('The quotes in README.md', () => {
  const path = inRepository('README.md');
  const readme = readFileSync(path, 'utf8');

  it('match the code', () => {
    expect(readme).to.match(QUOTE);
    const updated = readme.replaceAll(QUOTE, (_, file: string, first: string, last: string | undefined, language) => {
      const marker = `<!-- quote ${file}: ${first}${last === undefined ? '' : ` … ${last}`} -->`;
      return `${marker}\n\`\`\`${language}\n${quote(file, first, last)}\`\`\`\n`;
    });
    if (process.env['ACCEPT'] === '1') writeFileSync(path, updated);
    else expect(updated, 'README.md quotes old code; npm run api updates the quotes').to.equal(readme);
  });

  it('include a whole example', () => {
    const example = readFileSync(inRepository('docs/examples/use-case-test/create-plant.test.js'), 'utf8');
    expect(readme).to.include(`\`\`\`js\n${example}\`\`\`\n`);
  });
});

/**
 * Returns the lines of a file from the first one that starts with `first` to the next one that starts with `last` at the
 * same indentation, or one line if there is no `last`.
 */
function quote(file: string, first: string, last: string | undefined): string {
  const lines = readFileSync(inRepository(file), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.trimStart().startsWith(first));
  if (start < 0) throw new Error(`${file} has no line that starts with ${first}; update the marker in README.md`);
  const indentation = /^ */.exec(lines[start] ?? '')?.[0] ?? '';
  const isLast = (line: string) => line.startsWith(`${indentation}${last}`);
  const length = last === undefined ? 0 : lines.slice(start + 1).findIndex(isLast) + 1;
  if (last !== undefined && length === 0) {
    throw new Error(`${file} has no line ${last} after ${first}; update the marker in README.md`);
  }
  const quoted = lines.slice(start, start + length + 1);
  return quoted.map((line) => `${line.replace(indentation, '')}\n`).join('');
}
