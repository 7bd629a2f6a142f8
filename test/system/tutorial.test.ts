import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { section } from '../support/guide.js';
import { linkModules } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** Matches a code block, or the file that is named before it. */
const BLOCK_OR_FILE = /^```(\w+)\n(.*?)^```$|(?:\]\(\.\.\/|`(?=test\/))(.*?\.(?:ts|md))\b/gms;

describe('docs/tutorial.md', () => {
  const copy = temporaryFolder();
  // The commands run as a reader's, and report nothing to this tier.
  const isOfTests = (name: string) => /^(CI$|TEST_)/.test(name);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfTests(name)));

  function run(commands: string): { status: number | null; output: string } {
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', commands], { cwd: copy, encoding: 'utf8', env });
    return { status, output: `${commands}\n${stdout}${stderr}` };
  }

  /** Makes the change of a diff, whose lines of context occur once. */
  function type(path: string, diff: string): void {
    const linesWith = (signs: RegExp) => diff.replace(/^.*\n/gm, (line) => (signs.test(line) ? line.slice(1) : ''));
    const parts = readFileSync(join(copy, path), 'utf8').split(linesWith(/^[ -]/));
    expect(parts, diff).to.have.lengthOf(2);
    writeFileSync(join(copy, path), parts.join(linesWith(/^[ +]/)));
  }

  before(() => {
    const isCopied = (path: string) => !['node_modules', '.git'].includes(basename(path));
    // The build starts from the compiled code, which it recognises by the times of the files.
    cpSync(inRepository(''), copy, { recursive: true, preserveTimestamps: true, filter: isCopied });
    linkModules(copy);
    expect(run('git init --quiet; git add --all').status).to.equal(0);
  });

  for (const [heading, patch] of [
    ['1. A rule', 'rule'],
    ['2. A field', 'field'],
    ['3. An operation', 'operation'],
  ] as const)
    it(`${heading}: compiler and tests answer as stated, and the patch is the change`, () => {
      const text = section('docs/tutorial.md', heading);
      run('git restore .; git clean --quiet --force -d');
      let path = '';
      let result = { status: 0 as number | null, output: '' };
      for (const [, language, block = '', file] of text.matchAll(BLOCK_OR_FILE)) {
        if (file) path = file;
        if (language === 'diff') type(path, block);
        if (language === 'console') {
          for (const line of block.trim().split('\n')) expect(result.output).to.include(line.replace(/ ?…$/, ''));
          expect(result.status).to.not.equal(0);
          result = { status: 0, output: '' };
        } else if (language) expect(result.status, result.output).to.equal(0);
        if (language === 'sh') result = run(block);
      }
      expect(result.status, result.output).to.equal(0);
      const { status, output } = run(`git apply --reverse --check docs/tutorial/${patch}.patch`);
      expect(status, output).to.equal(0);
      const files = readFileSync(inRepository(`docs/tutorial/${patch}.patch`), 'utf8').match(/^diff .*/gm) ?? [];
      const product = files.filter((line) =>
        / a\/((core|adapters|composition)\/\S+\.ts|docs\/openapi)/.test(line),
      ).length;
      expect(text).to.include(`Cost: ${product} product files, ${files.length - product} other file`);
    }).timeout(600_000);
});
