import { cpSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { PACKAGES } from '../support/packages.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { outputOf, pack } from './interop.js';

describe('A release', () => {
  const copy = temporaryFolder();

  it('gets its version, also in the ranges between the packages, by one command', () => {
    const manifests = PACKAGES.map((folder) => join(folder, 'package.json'));
    for (const path of [...manifests, 'package-lock.json', 'Containerfile', '.npmrc', '.github/version.js'])
      cpSync(inRepository(path), join(copy, path));
    outputOf(copy, ['npm', 'version', '7.8.9']);
    const text = [...manifests, 'Containerfile'].map((path) => readFileSync(join(copy, path), 'utf8')).join('');
    const versions = text.matchAll(/(?:^ {2}"version": "|"@plant-store\/\w+": "\^|image\.version=")([^"]*)/gm);
    expect(new Set(Array.from(versions, ([, version]) => version))).to.deep.equal(new Set(['7.8.9']));
    // Fails if the lock file does not match.
    outputOf(copy, ['npm', 'ci', '--dry-run']);
  });

  it('has archives that npm would publish', () => {
    for (const archive of Object.values(pack()))
      outputOf(copy, ['npm', 'publish', '--dry-run', '--access', 'public', archive]);
  });
});
