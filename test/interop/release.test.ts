import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PACKAGES } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { outputOf } from './interop.js';

describe('A release', () => {
  const copy = temporaryFolder();

  it('gets its version, also in the ranges between the packages, by one command', () => {
    const manifests = PACKAGES.map((folder) => join(folder, 'package.json'));
    for (const path of [...manifests, 'package-lock.json', 'Containerfile', '.npmrc', '.github/version.js'])
      cpSync(inRepository(path), join(copy, path));
    outputOf(copy, ['npm', 'version', '999.0.0']);
    const text = [...manifests, 'package-lock.json', 'Containerfile']
      .map((path) => readFileSync(join(copy, path), 'utf8'))
      .join('');
    const versions = text.matchAll(/(?:^ {2}"version": "|"@plant-store\/\w+": "\^|image\.version=")([^"]*)/gm);
    expect(new Set(Array.from(versions, ([, version]) => version))).to.deep.equal(new Set(['999.0.0']));
  });

  it('has manifests that npm would publish', () => {
    const all = ['--workspaces', '--include-workspace-root', '--ignore-scripts', '--access', 'public'];
    outputOf(copy, ['npm', 'publish', '--dry-run', ...all]);
  });
});
