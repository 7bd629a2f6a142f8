import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks, section } from '../support/guide.js';
import { linkModules } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

describe('docs/tutorial.md', () => {
  const copy = temporaryFolder();
  // The commands run as a reader's, and report nothing to this tier.
  const isOfTests = (name: string) => /^(CI$|TEST_)/.test(name);
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfTests(name)));

  function run(commands: string): void {
    const { status, stdout, stderr } = spawnSync('bash', ['-euc', commands], { cwd: copy, encoding: 'utf8', env });
    expect(status, `${commands}\n${stdout}${stderr}`).to.equal(0);
  }

  before(() => {
    const isCopied = (path: string) => !['node_modules', '.git'].includes(basename(path));
    // The build starts from the compiled code, which it recognises by the times of the files.
    cpSync(inRepository(''), copy, { recursive: true, preserveTimestamps: true, filter: isCopied });
    linkModules(copy);
    run('git init --quiet; git add --all');
  });

  for (const [title, heading, patch] of [
    ['step 1, a rule, applies and passes its tests', '1. A rule', 'rule'],
    ['step 2, a field, applies and passes its tests', '2. A field', 'field'],
    ['step 3, an operation, applies and passes its tests', '3. An operation', 'operation'],
  ] as const) {
    it(title, () => {
      const blocks = codeBlocks(section('docs/tutorial.md', heading));
      const linesOf = (language: string) =>
        blocks.filter((block) => block.language === language).flatMap(({ text }) => text.trimEnd().split('\n'));
      const lines = readFileSync(inRepository(`docs/tutorial/${patch}.patch`), 'utf8').split('\n');
      expect(lines).to.include.members(linesOf('diff'));
      // After the step before.
      run('git restore .; git clean --quiet --force -d');
      run(linesOf('sh').join('\n'));
    }).timeout(600_000);
  }
});
