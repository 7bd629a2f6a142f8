import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

const ROOT = inRepository('');

describe('The compiler confines the core to its folder:', () => {
  const folder = temporaryFolder();
  const clean = `export const plants = new Map<bigint, string>([[2n ** 63n - 1n, 'Monstera'.toWellFormed()]]);`;
  const forbiddenUses = [
    ["Node's process object", 'export const variables = process.env;', "Cannot find name 'process'"],
    ['a timer', 'setTimeout(() => {}, 1);', "Cannot find name 'setTimeout'"],
    ['a built-in module of Node', "export { readFileSync } from 'node:fs';", "'node:fs'"],
    ['a file outside its folder', "export { secret } from '../outside.js';", "outside.ts' is not"],
    ['the DOM', 'export const title = document.title;', "Cannot find name 'document'"],
    ['the network', "export const response = fetch('/plants');", "Cannot find name 'fetch'"],
  ] as const;
  let errors: string[];

  // Create a core with one file per forbidden use, and node_modules beside it, as in this repository.
  before(() => {
    mkdirSync(join(folder, 'core'));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    const files = {
      'package.json': '{ "type": "module" }',
      'outside.ts': 'export const secret = 1;',
      'core/tsconfig.json': JSON.stringify({
        extends: join(ROOT, 'core/tsconfig.json'),
        compilerOptions: { rootDir: '.', outDir: '../dist' },
        include: ['./**/*.ts'],
      }),
      'core/clean.ts': clean,
      ...Object.fromEntries(forbiddenUses.map(([, text], index) => [`core/${index}.ts`, text])),
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
    const options = ['--project', 'core', '--pretty', 'false'];
    errors = spawnSync(process.execPath, [compiler, ...options], { cwd: folder })
      .stdout.toString()
      .split('\n');
  });

  const errorsOf = (file: string) => errors.filter((line) => line.startsWith(`core/${file}.ts(`)).join('\n');

  it('it may use the language', () => {
    expect(errorsOf('clean')).to.equal('');
  });

  for (const [index, [what, , error]] of forbiddenUses.entries()) {
    it(`it may not use ${what}`, () => {
      expect(errorsOf(`${index}`)).to.include(error);
    });
  }
});
