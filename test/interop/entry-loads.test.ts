import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { installPackage, skipUnlessInteropInstalled } from './interop.js';

/** What each entry point loads: folders of this package, and packages declared in package.json. */
const LOADS: Readonly<Record<string, readonly [folders: readonly string[], packages: readonly string[]]>> = {
  core: [['core'], []],
  'adapters/memory': [['adapters/memory', 'core'], []],
  'adapters/batching': [['adapters/batching', 'core'], []],
  'adapters/static-token': [['adapters/static-token'], []],
  'adapters/jwt': [['adapters/jwt', 'core'], ['jose']],
  'adapters/knex': [['adapters/knex', 'core'], ['knex']],
  'adapters/api': [
    ['adapters/api', 'core'],
    ['ajv', 'ajv-formats'],
  ],
  'adapters/koa': [
    ['adapters/koa', 'adapters/api', 'core'],
    ['@koa/router', 'ajv', 'ajv-formats', 'content-type', 'koa', 'koa-bodyparser'],
  ],
  // Koa, jose and the drivers are loaded on demand.
  composition: [
    [
      'adapters/batching',
      'adapters/knex',
      'adapters/memory',
      'adapters/ndjson',
      'adapters/static-token',
      'adapters/api',
      'composition',
      'core',
    ],
    ['ajv', 'ajv-formats', 'inversify', 'knex', 'pino', 'reflect-metadata'],
  ],
  contract: [['core', 'test/contract'], []],
  'contract/http': [['test/contract'], []],
};

describe('Importing', () => {
  let folder: string;
  before(function () {
    skipUnlessInteropInstalled(this);
    folder = installPackage();
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'empty.js'), '');
  });

  for (const [entry, [folders, packages]] of Object.entries(LOADS)) {
    it(`plant-store/${entry} loads ${[...folders, ...packages].join(', ')}`, () => {
      const loaded = load(folder, entry);
      expect(loaded.folders).to.have.members(folders);
      expect(loaded.declaredPackages).to.have.members(packages);
      // Without declared packages, no transitive ones are loaded either.
      if (packages.length === 0) expect(loaded.packages).to.deep.equal([]);
    });
  }

  it('plant-store/core loads no Node built-in', () => {
    expect(load(folder, 'core').builtins).to.deep.equal([]);
    // Proves that built-ins are detected.
    expect(load(folder, 'adapters/static-token').builtins).to.include('crypto');
  });
});

/** Imports an entry point in a new process. V8 coverage lists the loaded scripts; Node lists the loaded built-ins. */
function load(folder: string, entry: string) {
  const coverage = mkdtempSync(join(folder, 'coverage-'));
  const program = `
    await import('./empty.js');
    const before = new Set(process.moduleLoadList);
    await import('plant-store/${entry}');
    console.log(JSON.stringify(process.moduleLoadList.filter((name) => !before.has(name))));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, NODE_V8_COVERAGE: coverage },
  });
  expect(stderr).to.equal('');
  const natives: string[] = JSON.parse(stdout);
  const builtins = natives
    .filter((name) => name.startsWith('NativeModule ') && !/ (internal\/|_)/.test(name))
    .map((name) => name.slice('NativeModule '.length));

  const scripts: string[] = readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8'));
    return result.map(({ url }: { url: string }) => url);
  });
  const names = scripts.map((url) => /^file:.*\/node_modules\/((@[^/]+\/)?[\w-][^/]*)\//.exec(url)?.[1] ?? '');
  const packages = [...new Set(names)].filter((name) => name !== '' && name !== 'plant-store');
  const { dependencies, optionalDependencies, peerDependencies } = JSON.parse(
    readFileSync(join(folder, 'node_modules/plant-store/package.json'), 'utf8'),
  );
  const declared = Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
  const folders = scripts.map((url) => /\/plant-store\/dist\/((adapters\/|test\/)?[^/]+)\//.exec(url)?.[1] ?? '');
  return {
    builtins,
    packages,
    declaredPackages: packages.filter((name) => declared.includes(name)),
    folders: [...new Set(folders)].filter((name) => name !== ''),
  };
}
