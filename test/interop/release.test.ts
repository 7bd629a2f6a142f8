import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PACKAGES, readManifest } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { outputOf } from './interop.js';

describe('A release', () => {
  const copy = temporaryFolder();

  it('gets its version, also between the packages and in the guides, by one command', () => {
    const files = [...PACKAGES.map((folder) => join(folder, 'package.json')), 'Containerfile', 'docs/versions.md'];
    for (const path of [...files, 'package-lock.json', '.npmrc', '.github/version.js'])
      cpSync(inRepository(path), join(copy, path));
    outputOf(copy, ['npm', 'version', '999.0.0']);
    const previous = RegExp(`\\b${readManifest('').version}\\b`);
    for (const path of files)
      expect(readFileSync(join(copy, path), 'utf8'), path)
        .to.include('999.0.0')
        .and.not.match(previous);
  });

  it('has manifests that npm would publish', () => {
    const all = ['--workspaces', '--include-workspace-root', '--ignore-scripts', '--access', 'public'];
    outputOf(copy, ['npm', 'publish', '--dry-run', ...all]);
  });
});
