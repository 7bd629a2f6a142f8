import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks } from '../support/guide.js';
import { linkModules } from '../support/link-modules.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** What the tutorial calls the product. */
const PRODUCT = /^(core|adapters|composition)\/|^docs\/openapi\.yaml$/;
const [, ...steps] = readFileSync(inRepository('docs/tutorial.md'), 'utf8').split(/^## (?=\d)/m);

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

  for (const { title, patchOf } of [
    { title: 'step 1, a rule, applies and passes its tests', patchOf: 'rule' },
    { title: 'step 2, a field, applies and passes its tests', patchOf: 'field' },
    { title: 'step 3, an operation, applies and passes its tests', patchOf: 'operation' },
  ]) {
    it(title, () => {
      const step = steps.find((each) => each.includes(`(tutorial/${patchOf}.patch)`)) ?? '';
      const patch = readFileSync(inRepository(`docs/tutorial/${patchOf}.patch`), 'utf8');
      const files = [...patch.matchAll(/^diff --git a\/(\S+)/gm)].map(([, file = '']) => file);
      const product = files.filter((file) => PRODUCT.test(file));
      const cost = /Cost: (\d+) product files?, (\d+) other files?\./.exec(step)?.slice(1).map(Number);
      expect(cost, files.join('\n')).to.deep.equal([product.length, files.length - product.length]);

      const textsOf = (language: string) =>
        codeBlocks(step).flatMap((block) => (block.language === language ? [block.text.trim()] : []));
      expect(patch.split('\n')).to.include.members(textsOf('diff').flatMap((text) => text.split('\n')));
      // After the step before.
      run('git restore .; git clean --quiet --force -d');
      for (const commands of textsOf('sh')) run(commands);
    }).timeout(600_000);
  }
});
