import { copyFileSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CLI, Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed } from './interop.js';

describe('On a machine that lacks a requirement,', () => {
  const folder = temporaryFolder();
  const run = (program: string, script: string) =>
    new Program(folder, [program, script], { NODE_OPTIONS: '' }).result();

  it('the command and the build name the version of Node', async function () {
    for (const [name, version] of [
      ['node-18', '18.20.8'],
      ['node-20.10', '20.10.0'],
    ] as const) {
      const node = installed(`${name}/bin/node`);
      skipUnless(this, existsSync(node), node);
      const stderr = `needs Node 20.19 or newer; this is Node ${version}\n`;
      expect(await run(node, CLI)).to.deep.equal({ exitCode: 78, stdout: '', stderr: `plant-store: ${stderr}` });
      const build = await run(node, inRepository('build.js'));
      expect(build).to.deep.equal({ exitCode: 1, stdout: '', stderr: `Plant Store ${stderr}` });
    }
  });

  it('the build names the command that installs the development dependencies', async () => {
    for (const file of ['build.js', 'package.json']) copyFileSync(inRepository(file), join(folder, file));
    const stderr = 'The build needs the development dependencies: npm install --include=dev\n';
    expect(await run(process.execPath, 'build.js')).to.deep.equal({ exitCode: 1, stdout: '', stderr });
  });
});
