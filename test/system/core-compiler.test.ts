import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** A line of a module of the core, and the error that the compiler reports for it, if any. */
const LINES = [
  ["export const plants = new Map<bigint, string>([[2n ** 63n - 1n, 'Monstera'.toWellFormed()]]);", undefined],
  ['export const variables = process.env;', "Cannot find name 'process'"],
  ['setTimeout(() => {}, 1);', "Cannot find name 'setTimeout'"],
  ["export { readFileSync } from 'node:fs';", "'node:fs'"],
  ["export { secret } from '../outside.js';", "outside.ts' is not"],
  ['export const title = document.title;', "Cannot find name 'document'"],
  ["export const response = fetch('/plants');", "Cannot find name 'fetch'"],
] as const;

describe('The compiler', () => {
  const folder = temporaryFolder();

  it('confines the core to the language: no Node, no DOM, no timer, no network, no file outside of its folder', () => {
    // A core with one module, and node_modules beside it, as in this repository.
    mkdirSync(join(folder, 'core'));
    symlinkSync(inRepository('node_modules'), join(folder, 'node_modules'));
    const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
    write('package.json', '{ "type": "module" }');
    write('outside.ts', 'export const secret = 1;');
    write('core/module.ts', LINES.map(([line]) => line).join('\n'));
    const compilerOptions = { rootDir: '.', outDir: '../dist' };
    const tsconfig = { extends: inRepository('core/tsconfig.json'), compilerOptions, include: ['./**/*.ts'] };
    write('core/tsconfig.json', JSON.stringify(tsconfig));
    const compiler = inRepository('node_modules/typescript/bin/tsc');
    const { stdout } = spawnSync(process.execPath, [compiler, '--project', 'core', '--pretty', 'false'], {
      cwd: folder,
      encoding: 'utf8',
    });
    for (const [index, [line, error]] of LINES.entries()) {
      const errors = stdout.split('\n').filter((text) => text.startsWith(`core/module.ts(${index + 1},`));
      if (error === undefined) expect(errors, line).to.deep.equal([]);
      else expect(errors.join(), line).to.include(error);
    }
  });
});
