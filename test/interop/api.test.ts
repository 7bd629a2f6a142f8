import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { expectSnapshot } from '../support/snapshot.js';
import { temporaryFolder } from '../support/temporary.js';
import { runUntilExit, skipUnlessInteropInstalled } from './interop.js';

const ENTRY_POINTS = Object.entries<string>(JSON.parse(readFileSync(inRepository('package.json'), 'utf8')).exports)
  .filter(([path, target]) => path !== '.' && target.endsWith('.js'))
  .map(([path]) => path.slice('./'.length).replaceAll('/', '-'));

describe('The types of', () => {
  let reports: Map<string, string>;
  before(function () {
    skipUnlessInteropInstalled(this);
    this.timeout(120_000);
    const folder = temporaryFolder();
    const program = inRepository('test/interop/api-reports.js');
    const { status, stdout, stderr } = runUntilExit(folder, [process.execPath, program, folder]);
    expect(status, stdout + stderr).to.equal(0);
    const names = readdirSync(folder).filter((name) => name.endsWith('.api.md'));
    reports = new Map(names.map((name) => [name.replace('.api.md', ''), readFileSync(join(folder, name), 'utf8')]));
  });

  for (const name of ENTRY_POINTS) {
    it(`plant-store/${name.replace(/^(adapters|contract)-/, '$1/')} match the API report`, () => {
      expectSnapshot(`docs/api/${name}.api.md`, reports.get(name) ?? '');
    });
  }

  it('exactly the current entry points have API reports', () => {
    const expected = [...ENTRY_POINTS.map((name) => `${name}.api.md`), 'interface.txt'];
    expect(readdirSync(inRepository('docs/api'))).to.have.members(expected);
  });

  it('all entry points refer only to types that an entry point exports', () => {
    const texts = [...reports.values()];
    const exported = new Set(texts.flatMap((text) => matches(text, /^export (?:abstract )?\w+ (\w+)/gm)));
    const named = texts.flatMap((text) => matches(text, /\(ae-forgotten-export\) The symbol "([A-Z][^"]*)"/g));
    expect([...new Set(named)].filter((name) => !exported.has(name))).to.deep.equal([]);
  });
});

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([, match]) => `${match}`);
}
