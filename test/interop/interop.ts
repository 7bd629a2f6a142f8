import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';

/** Returns the path of a file in one of the packages of `test/interop`. */
export const installed = (path: string): string => inRepository(`test/interop/node_modules/${path}`);

if (!existsSync(installed('typescript')))
  throw new Error('run npm test -- interop, which installs what these tests need');

/** Runs a program until it exits, and returns its output; throws if it fails. */
export function outputOf(folder: string, [program, ...args]: readonly [string, ...string[]]): string {
  const { NODE_V8_COVERAGE: _, ...inherited } = process.env;
  const options = { cwd: folder, env: { ...inherited, NO_COLOR: '1' }, encoding: 'utf8', timeout: 120_000 } as const;
  const { status, stdout, stderr, error } = spawnSync(program, args, options);
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${error ?? `${stdout}${stderr}`}`);
  return stdout;
}

/** Packs the package as for publication. Returns the path of the tarball. */
export function pack(): string {
  const folder = temporaryFolder();
  outputOf(inRepository(''), ['npm', 'pack', '--ignore-scripts', '--pack-destination', folder]);
  return join(folder, readdirSync(folder)[0] ?? '');
}

/** Creates a folder with the packed package, in which the packages of `test/interop` and the repository resolve, too. */
export function installPackage(): string {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, 'plant-store'), { recursive: true });
  outputOf(folder, ['tar', '-xzf', pack(), '--strip-components=1', '-C', 'node_modules/plant-store']);
  for (const from of [inRepository('node_modules'), installed('.')])
    for (const name of readdirSync(from))
      if (!existsSync(join(modules, name))) symlinkSync(join(from, name), join(modules, name));
  return folder;
}
