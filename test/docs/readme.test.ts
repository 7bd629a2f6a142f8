import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { settings } from '../../composition/config.js';
import { inRepository } from '../support/paths.js';

/** A marker, such as `<!-- quote core/plant.ts: static from( … } -->`, and the code block after it. */
const QUOTE = /(<!-- quote (\S+): (.+?)(?: … (.+?))? -->\n```\w+\n)(.*?)```\n/gs;

describe('README.md', () => {
  const path = inRepository('README.md');
  const readme = readFileSync(path, 'utf8');

  it('quotes the code', () => {
    expect(readme).to.match(QUOTE);
    const updated = readme.replaceAll(
      QUOTE,
      (_, start, file, first, last) => `${start}${quote(file, first, last)}\`\`\`\n`,
    );
    if (process.env['ACCEPT'] === '1') writeFileSync(path, updated);
    else expect(updated, 'README.md quotes old code; npm run api updates the quotes').to.equal(readme);
  });

  it('includes a whole example', () => {
    const example = readFileSync(inRepository('docs/examples/use-case-test/create-plant.test.js'), 'utf8');
    expect(readme).to.include(`\`\`\`js\n${example}\`\`\`\n`);
  });

  it('has every setting, with its default', () => {
    const rows = readme.matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm);
    const documented = Object.fromEntries([...rows].map(([, variable, value]) => [variable, value]));
    const defaults = Object.values(settings).map((setting) => [
      setting.variable,
      setting.default === undefined ? 'none' : `\`${setting.default}\``,
    ]);
    expect(documented).to.deep.equal(Object.fromEntries(defaults));
  });
});

/**
 * Returns the lines of a file from the first one that starts with `first` to the next one that starts with `last` at the
 * same indentation, or one line if there is no `last`.
 */
function quote(file: string, first: string, last: string | undefined): string {
  const lines = readFileSync(inRepository(file), 'utf8').split('\n');
  const start = lines.findIndex((line) => line.trimStart().startsWith(first));
  const indentation = /^ */.exec(lines[start] ?? '')?.[0] ?? '';
  const isLast = (line: string, index: number) => index > start && line.startsWith(`${indentation}${last}`);
  const end = last === undefined ? start : lines.findIndex(isLast);
  if (start < 0 || end < 0) throw new Error(`${file} has no lines ${first} … ${last}; update the marker in README.md`);
  return lines
    .slice(start, end + 1)
    .map((line) => `${line.replace(indentation, '')}\n`)
    .join('');
}
