import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { readManifest } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { outputOf, unpack } from './interop.js';

/** The entry points in the table of the README, each with the packages that it needs, such as `koa@3`. */
const readme = readFileSync(inRepository('adapters/README.md'), 'utf8');
const rows = readme.matchAll(/^\| \[`\.(\/.*?)`\].*?\|.*?\|(.*?)\|/gm);
const entryPoints = Array.from(rows, ([, path, cell = '']) => ({
  name: `@plant-store/adapters${path}`,
  needs: Array.from(cell.matchAll(/`(.+?@\d+)`/g), ([, needed = '']) => needed),
}));

describe('The entry points of the adapters', () => {
  let project: string;
  before(() => {
    project = unpack(['core', 'adapters']);
  });

  it('load with what the table in their README names, and not without', () => {
    const names = JSON.stringify(entryPoints.map(({ name }) => name));
    const program = `for (const name of ${names}) await import(name).then(() => console.log(name), () => {});`;
    writeFileSync(join(project, 'program.mjs'), program);
    for (const packages of new Map(entryPoints.map(({ needs }) => [needs.join(), needs])).values()) {
      // These packages only, as pnpm installs them.
      const links = packages.map((needed) => {
        const [, name = '', major] = /^(.+)@(\d+)$/.exec(needed) ?? [];
        expect(readManifest(`node_modules/${name}`).version, name).to.match(RegExp(`^${major}\\.`));
        const link = join(project, 'node_modules', name);
        mkdirSync(dirname(link), { recursive: true });
        symlinkSync(inRepository(`node_modules/${name}`), link);
        return link;
      });
      // Knex is loaded when a storage is opened.
      const isLoading = ({ name, needs }: (typeof entryPoints)[number]) =>
        name.endsWith('/knex') || needs.every((needed) => packages.includes(needed));
      const loading = entryPoints.filter(isLoading).map(({ name }) => `${name}\n`);
      expect(outputOf(project, [process.execPath, 'program.mjs'])).to.equal(loading.join(''));
      for (const link of links) rmSync(link);
    }
  });
});
