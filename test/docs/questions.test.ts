import { spawnSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { codeBlocks } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

describe('docs/questions.md', () => {
  const cwd = temporaryFolder();

  it('is a program that prints what its comments state', () => {
    const blocks = codeBlocks(readFileSync(inRepository('docs/questions.md'), 'utf8'));
    const input = blocks.map(({ text }) => text).join('');
    symlinkSync(inRepository('node_modules'), join(cwd, 'node_modules'));
    const args = ['--disable-warning=ExperimentalWarning', '--input-type=module'];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd, input, encoding: 'utf8' });
    const comments = [...input.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, comment]) => `${comment}\n`);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
    expect(stdout).to.equal(comments.join('').replaceAll(' | ', '\n'));
  });
});
