import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { codeBlocks } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** What the tutorial calls the product. */
const PRODUCT = /^(core|adapters|composition)\/|^docs\/openapi\.yaml$|^tsconfig\.json$/;
const [, ...steps] = readFileSync(inRepository('docs/tutorial.md'), 'utf8').split(/^## (?=\d)/m);

describe('docs/tutorial.md', () => {
  const copy = temporaryFolder();
  // The commands of the tutorial run as a reader's, and report nothing to this tier.
  const isOfTests = (name: string) => /^(CI$|TEST_)/.test(name);
  const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !isOfTests(name)));

  /** Runs a command in the copy of the repository, and returns its standard output. */
  function run(command: string, ...args: readonly string[]): string {
    const { status, stdout, stderr } = spawnSync(command, args, { cwd: copy, encoding: 'utf8', env: environment });
    expect(status, `${args.join(' ')}\n${stdout}${stderr}`).to.equal(0);
    return stdout;
  }
  const git = (...args: readonly string[]) => run('git', '-c', 'user.name=Reader', '-c', 'user.email=@', ...args);

  before(() => {
    const listed = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const files = spawnSync('git', listed, { cwd: inRepository(''), encoding: 'utf8' }).stdout.split('\0');
    // The build starts from the compiled code, which it recognises by the times of the files.
    for (const file of [...files.filter((name) => name !== '' && existsSync(inRepository(name))), 'dist'])
      cpSync(inRepository(file), join(copy, file), { recursive: true, preserveTimestamps: true });
    symlinkSync(inRepository('node_modules'), join(copy, 'node_modules'));
    git('init', '--quiet');
    git('add', '--all');
    git('commit', '--quiet', '--message', 'clone');
  });

  for (const step of steps) {
    it(step.slice(0, step.indexOf('\n')), () => {
      // After a failed attempt.
      git('reset', '--quiet', '--hard');
      git('clean', '--quiet', '--force', '-d');

      const patch = readFileSync(inRepository(`docs/${/\[Patch\]\((.*?)\)/.exec(step)?.[1]}`), 'utf8');
      const files = [...patch.matchAll(/^diff --git a\/(\S+)/gm)].map(([, file = '']) => file);
      const product = files.filter((file) => PRODUCT.test(file));
      const cost = /Cost: (\d+) product files?, (\d+) other files?\./.exec(step)?.slice(1).map(Number);
      expect(cost, files.join('\n')).to.deep.equal([product.length, files.length - product.length]);

      const blocks = codeBlocks(step);
      const quotes = blocks
        .filter(({ language }) => language === 'diff')
        .flatMap(({ text }) => text.trim().split('\n'));
      expect(patch.split('\n')).to.include.members(quotes);

      for (const { text } of blocks.filter(({ language }) => language === 'sh'))
        run('bash', '-euo', 'pipefail', '-c', text);
      git('add', '--all');
      git('commit', '--quiet', '--message', step);
    }).timeout(300_000);
  }
});
