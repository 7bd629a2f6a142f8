import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { it } from 'mocha';
import { CLI, Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed } from './interop.js';

it('On a version of Node that is too old, the command and the build name the one that they need', async function () {
  const folder = temporaryFolder();
  const node = installed('node-18/bin/node');
  skipUnless(this, existsSync(node), node);
  const run = (script: string) => new Program(folder, [node, script], { NODE_OPTIONS: '' }).result();
  const problem = 'needs Node 20.19 or newer; this is Node 18.20.8\n';
  expect(await run(CLI)).to.deep.equal({ exitCode: 78, stdout: '', stderr: `plant-store: ${problem}` });
  expect(await run(inRepository('build.js'))).to.include({ exitCode: 1, stderr: `Plant Store ${problem}` });
});
