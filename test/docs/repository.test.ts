import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { settings } from '../../composition/config.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

describe('The repository', () => {
  for (const command of ['npm ci && npm start', 'npm ci && npm test']) {
    it(`tells the reader to run: ${command}`, () => {
      expect(read('README.md').split('\n')).to.include(command);
    });
  }

  it('has every setting, with its default, in the table of README.md', () => {
    const rows = read('README.md').matchAll(/^\| `([A-Z_]+)` \| (.*?) \|/gm);
    const documented = Object.fromEntries([...rows].map(([, variable, value]) => [variable, value]));
    const defaults = Object.values(settings).map((setting) => [
      setting.variable,
      setting.default === undefined ? 'none' : `\`${setting.default}\``,
    ]);
    expect(documented).to.deep.equal(Object.fromEntries(defaults));
  });

  it('lists in allowScripts every installed package that runs a script during installation', () => {
    const { packages } = JSON.parse(read('node_modules/.package-lock.json'));
    const folders = Object.keys(packages);
    const running = folders.filter((folder) => {
      if (existsSync(join(root, folder, 'binding.gyp'))) return true;
      // The list contains packages for other platforms, which are not installed.
      if (!existsSync(join(root, folder, 'package.json'))) return false;
      const { scripts = {} } = JSON.parse(read(join(folder, 'package.json')));
      return ['preinstall', 'install', 'postinstall'].some((script) => script in scripts);
    });
    const names = running.map((folder) => folder.replace(/^.*node_modules\//, ''));
    // An installation may omit optional packages.
    expect(Object.keys(JSON.parse(read('package.json')).allowScripts)).to.include.members(names);
  });
});
