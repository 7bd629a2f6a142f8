import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { temporaryFolder } from '../support/temporary.js';
import { installed, outputOf, pack, rowsOf } from './interop.js';

/** The entry points in the table of the README, each with the majors of the packages that it needs. */
const entryPoints = rowsOf('adapters/README.md', /^\| `\.\//).map(([entry = '', , needs = '']) => ({
  name: `@plant-store/adapters${entry.slice(2, -1)}`,
  needs: Object.fromEntries(Array.from(needs.matchAll(/`(.+?)@(\d+)`/g), ([, name, major]) => [name, major])),
}));

/** With pnpm, a package resolves only what its manifest declares and the project installs. */
describe('On pnpm, the adapters', () => {
  const folder = temporaryFolder();
  let archives: Readonly<Record<string, string>>;
  before(() => {
    archives = pack();
  });

  let projects = 0;
  /** Returns what a program prints in a project that has installed packages. */
  function runWith(packages: Readonly<Record<string, string>>, program: string): string {
    const project = join(folder, `${++projects}`);
    mkdirSync(project);
    const own = ['@plant-store/core', '@plant-store/adapters'].map((name) => [name, `${archives[name]}`]);
    const manifest = { type: 'module', dependencies: { ...Object.fromEntries(own), ...packages } };
    writeFileSync(join(project, 'package.json'), JSON.stringify(manifest));
    writeFileSync(join(project, 'program.js'), program);
    const options = ['--ignore-scripts', '--prefer-offline', '--config.hoist=false', `--store-dir=${folder}/store`];
    outputOf(project, [process.execPath, installed('pnpm/bin/pnpm.cjs'), 'install', ...options]);
    return outputOf(project, [process.execPath, 'program.js']);
  }

  it('load with what the table in their README names, and not without', () => {
    const names = JSON.stringify(entryPoints.map(({ name }) => name));
    const program = `for (const name of ${names}) await import(name).then(() => console.log(name), () => {});`;
    for (const needs of new Set(entryPoints.map((each) => JSON.stringify(each.needs)))) {
      const packages = JSON.parse(needs);
      const isComplete = (needed: object) => Object.keys(needed).every((name) => name in packages);
      // Knex is loaded when a storage is opened.
      const loading = entryPoints.filter((each) => isComplete(each.needs) || each.name.endsWith('/knex'));
      expect(runWith(packages, program)).to.equal(loading.map(({ name }) => `${name}\n`).join(''));
    }
  });

  it('name the command that installs Knex or its driver', () => {
    const program = `import { openMysql } from '@plant-store/adapters/knex';
      await openMysql({ url: 'mysql://127.0.0.1:1/plants' }).catch(({ message }) => console.log(message));`;
    expect(runWith({}, program)).to.equal('Knex is not installed: npm install knex\n');
    expect(runWith({ knex: '3' }, program)).to.equal('the driver mysql2 is not installed: npm install mysql2\n');
  });
});
