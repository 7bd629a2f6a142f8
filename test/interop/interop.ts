import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { linkModules, PACKAGES, readManifest } from '../support/packages.js';
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

/** Packs packages as for publication. Returns the path of each archive by the folder of its package. */
export function pack(folders: readonly string[]): Map<string, string> {
  const archives = temporaryFolder();
  const names = folders.map((folder) => inRepository(folder || '.'));
  outputOf(inRepository('.'), ['npm', 'pack', '--ignore-scripts', '--pack-destination', archives, ...names]);
  const toArchive = (folder: string) => {
    const { name, version } = readManifest(folder);
    return join(archives, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  };
  return new Map(folders.map((folder) => [folder, toArchive(folder)]));
}

/** Creates a folder in which packed packages are installed, and no others. */
export function unpack(folders: readonly string[]): string {
  const project = temporaryFolder();
  for (const [folder, archive] of pack(folders)) {
    const target = join(project, 'node_modules', readManifest(folder).name);
    mkdirSync(target, { recursive: true });
    outputOf(project, ['tar', '-xzf', archive, '--strip-components=1', '-C', target]);
  }
  return project;
}

/** Creates a folder in which all packages are installed, with those of the repository and of `test/interop`. */
export function unpackAll(): string {
  const project = unpack(PACKAGES);
  linkModules(project, installed('.'));
  return project;
}
