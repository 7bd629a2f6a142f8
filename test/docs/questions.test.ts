import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Program } from '../support/executable.js';
import { codeBlocks } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

describe('docs/questions.md', () => {
  const folder = temporaryFolder();

  it('is a program that prints what its comments state', async () => {
    const page = readFileSync(inRepository('docs/questions.md'), 'utf8');
    const code = codeBlocks(page)
      .map(({ text }) => text)
      .join('');
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRepository('node_modules/@plant-store'), join(folder, 'node_modules/@plant-store'));
    writeFileSync(join(folder, 'questions.mjs'), code);
    const { exitCode, stdout, stderr } = await new Program(folder, [
      process.execPath,
      '--disable-warning=ExperimentalWarning',
      'questions.mjs',
    ]).result();
    const stated = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].flatMap(([, output = '']) =>
      output.split(' | '),
    );
    expect({ exitCode, stdout, stderr }).to.deep.equal({ exitCode: 0, stdout: `${stated.join('\n')}\n`, stderr: '' });
  });
});
