import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Context } from 'mocha';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';

const MODULES = inRepository('test/interop/node_modules');
if (!existsSync(join(MODULES, '.package-lock.json')))
  throw new Error('missing: the packages of test/interop; run npm ci --ignore-scripts --prefix test/interop');

/** Returns the path of a file installed in `test/interop/node_modules`, such as `.bin/publint`. */
export const installed = (path: string): string => join(MODULES, path);

const { dependencies } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));

/** Node 24, which some tools need. Installed on Linux x64 only. */
export const NODE_24: string = installed('node-24/bin/node');

/** Skips a test if a program does not exist. Throws instead if `CI=true`. */
export const skipUnlessExists = (context: Context, path: string): void => skipUnless(context, existsSync(path), path);

/** Runs a program until it exits, without collecting its coverage. */
export function run(folder: string, [program, ...args]: readonly [string, ...string[]], environment = {}) {
  const { NODE_V8_COVERAGE, ...inherited } = process.env;
  const env = { ...inherited, NO_COLOR: '1', ...environment };
  return spawnSync(program, args, { cwd: folder, env, encoding: 'utf8', timeout: 120_000 });
}

/** Runs a program until it exits, fails unless it succeeds without errors, and returns its output. */
export function outputOf(folder: string, command: readonly [string, ...string[]], environment = {}): string {
  const { status, stdout, stderr } = run(folder, command, environment);
  expect([status, stderr], stdout).to.deep.equal([0, '']);
  return stdout;
}

// Inside node_modules, so that packages resolve from `test/interop`, then from the repository.
const root = mkdtempSync(installed('.test-'));
process.once('exit', () => rmSync(root, { recursive: true, force: true }));

/** Creates a folder in which the packages of `test/interop` and of the repository resolve. */
export const folderWithPackages = (): string => mkdtempSync(join(root, 'folder-'));

/** Returns the path of the package tarball as it would be published. Packs it once per process. */
export function tarball(): string {
  packed ??= run(inRepository(''), ['npm', 'pack', '--ignore-scripts', '--json', '--pack-destination', root]).stdout;
  return join(root, /"filename": "([^"]+)"/.exec(packed)?.[1] ?? 'not packed');
}
let packed: string | undefined;

/** Creates a folder in which `plant-store` is installed from its tarball, without downloads. */
export function installPackage(): string {
  const folder = folderWithPackages();
  const target = join(folder, 'node_modules/plant-store');
  mkdirSync(target, { recursive: true });
  outputOf(folder, ['tar', '-xzf', tarball(), '--strip-components=1', '-C', target]);
  // As npm does, because `test/interop` has other versions of some packages at the top.
  mkdirSync(join(target, 'node_modules'));
  for (const name of Object.keys(dependencies).filter((each) => existsSync(installed(each))))
    symlinkSync(inRepository(`node_modules/${name}`), join(target, 'node_modules', name));
  return folder;
}

/** Bundles a program with esbuild, and returns the path of the bundle. */
export function bundle(folder: string, program: string, ...options: readonly string[]): string {
  const outfile = join(folder, options.includes('--format=cjs') ? 'bundle.cjs' : 'bundle.mjs');
  writeFileSync(join(folder, 'entry.js'), program);
  const esbuild = [installed('.bin/esbuild'), 'entry.js', '--bundle', '--log-level=warning'] as const;
  outputOf(folder, [...esbuild, `--outfile=${outfile}`, ...options]);
  return outfile;
}
