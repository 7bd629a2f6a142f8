import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PACKAGES, readManifest } from '../support/packages.js';
import { inRepository } from '../support/paths.js';

const read = (path: string) => readFileSync(inRepository(path), 'utf8');

/** Returns the text of the files that git lists for patterns. */
function textOf(...patterns: readonly string[]): string {
  const files = execFileSync('git', ['ls-files', ...patterns], { cwd: inRepository(''), encoding: 'utf8' });
  return files.trim().split('\n').map(read).join('\n');
}

describe('The entry points', () => {
  it('export only what a guide, an example or the service uses', async () => {
    const documents = textOf('README.md', 'docs/*.md', 'docs/examples');
    const modules = PACKAGES.flatMap((folder) =>
      Object.values(readManifest(folder).exports).map((path) => join(folder, path)),
    );
    for (const module of modules.filter((path) => path.endsWith('.js'))) {
      const folder = dirname(module).replace(/(^|\/)dist/, '') || '.';
      const users = documents + textOf('core/*.ts', 'adapters/*.ts', 'composition/*.ts', `:!${folder}`);
      const names = Object.keys(await import(inRepository(module)));
      expect(names, module).not.to.have.length(0);
      expect(
        names.filter((name) => !RegExp(`\\b${name}\\b`).test(users)),
        module,
      ).to.deep.equal([]);
    }
  });
});
