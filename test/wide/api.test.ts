import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { expectAccepted } from '../support/accepted.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { needsWide, runToEnd } from './wide.js';

const ENTRY_POINTS = Object.entries<string>(JSON.parse(readFileSync(inRepository('package.json'), 'utf8')).exports)
  .filter(([, target]) => target.endsWith('.js'))
  .map(([path]) => path.slice('./'.length).replaceAll('/', '-'));

describe('The types of', () => {
  let reports: Map<string, string>;
  before(function () {
    needsWide(this);
    this.timeout(120_000);
    const folder = temporaryFolder();
    const program = inRepository('test/wide/api-reports.js');
    const { status, stdout, stderr } = runToEnd(folder, [process.execPath, program, folder]);
    expect(status, stdout + stderr).to.equal(0);
    const names = readdirSync(folder).filter((name) => name.endsWith('.api.md'));
    reports = new Map(names.map((name) => [name.replace('.api.md', ''), readFileSync(join(folder, name), 'utf8')]));
  });

  for (const name of ENTRY_POINTS) {
    it(`plant-store/${name.replace('adapters-', 'adapters/')} are those that were accepted`, () => {
      expectAccepted(`docs/api/${name}.api.md`, reports.get(name) ?? '');
    });
  }

  it('entry points that are gone are not kept', () => {
    const expected = [...ENTRY_POINTS.map((name) => `${name}.api.md`), 'interface.txt'];
    expect(readdirSync(inRepository('docs/api'))).to.have.members(expected);
  });

  it('all entry points name no type that none of them offers', () => {
    const texts = [...reports.values()];
    const offered = new Set(texts.flatMap((text) => matches(text, /^export (?:abstract )?\w+ (\w+)/gm)));
    const named = texts.flatMap((text) => matches(text, /\(ae-forgotten-export\) The symbol "([A-Z][^"]*)"/g));
    expect([...new Set(named)].filter((name) => !offered.has(name))).to.deep.equal([]);
  });
});

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, match]) => `${match}`);
}
