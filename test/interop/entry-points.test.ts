import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { readManifest } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { outputOf, unpack } from './interop.js';

/** The entry points in the table of the README, each with the packages and majors that it needs. */
const rows = readFileSync(inRepository('adapters/README.md'), 'utf8').matchAll(/^\| `\.(\/.*?)` \|.*?\|(.*?)\|/gm);
const entryPoints = Array.from(rows, ([, path, cell = '']) => ({
  name: `@plant-store/adapters${path}`,
  needs: Array.from(cell.matchAll(/`(.+?)@(\d+)`/g), ([, name = '', major = '']) => ({ name, major })),
}));

describe('The entry points of the adapters', () => {
  let project: string;
  before(() => {
    project = unpack(['core', 'adapters']);
  });

  /** Returns what a program prints in a project with these packages only, as pnpm installs them. */
  function runWith(packages: readonly string[], program: string): string {
    const links = packages.map((name) => ({ name, link: join(project, 'node_modules', name) }));
    for (const { name, link } of links) {
      mkdirSync(dirname(link), { recursive: true });
      symlinkSync(inRepository(`node_modules/${name}`), link);
    }
    writeFileSync(join(project, 'program.mjs'), program);
    const output = outputOf(project, [process.execPath, 'program.mjs']);
    for (const { link } of links) rmSync(link);
    return output;
  }

  it('load with what the table in their README names, and not without', () => {
    const names = entryPoints.map(({ name }) => name);
    expect(names).to.have.members(
      Object.keys(readManifest('adapters').exports).map((path) => `@plant-store/adapters${path.slice(1)}`),
    );
    const program = `for (const name of ${JSON.stringify(names)}) await import(name).then(() => console.log(name), () => {});`;
    for (const { name, needs } of entryPoints) {
      const packages = needs.map((needed) => needed.name);
      // Knex is loaded when a storage is opened.
      const loading = entryPoints.filter(
        (other) => other.name.endsWith('/knex') || other.needs.every((needed) => packages.includes(needed.name)),
      );
      expect(runWith(packages, program), name).to.equal(loading.map((other) => `${other.name}\n`).join(''));
      for (const needed of needs)
        expect(readManifest(`node_modules/${needed.name}`).version, needed.name).to.match(
          RegExp(`^${needed.major}\\.`),
        );
    }
  });

  it('name the command that installs Knex or its driver', () => {
    const program = `import { openMysql } from '@plant-store/adapters/knex';
      await openMysql({ url: 'mysql://127.0.0.1:1/plants' }).catch(({ message }) => console.log(message));`;
    expect(runWith([], program)).to.equal('Knex is not installed: npm install knex\n');
    expect(runWith(['knex'], program)).to.equal('the driver mysql2 is not installed: npm install mysql2\n');
  });
});
