import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PACKAGES, readManifest } from '../support/packages.js';
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

/** Returns the cells of the lines of a table that match a pattern. */
export function rowsOf(document: string, pattern: RegExp): string[][] {
  const lines = readFileSync(inRepository(document), 'utf8').split('\n');
  const rows = lines.filter((line) => pattern.test(line)).map((line) => line.split('|').slice(1, -1));
  return rows.map((cells) => cells.map((cell) => cell.trim()));
}

/** Packs the packages as for publication. Returns the path of each archive by the name of its package. */
export function pack(): Record<string, string> {
  const folder = temporaryFolder();
  const all = ['--workspaces', '--include-workspace-root', '--ignore-scripts', '--pack-destination', folder];
  outputOf(inRepository('.'), ['npm', 'pack', ...all]);
  const toArchive = ({ name, version }: { name: string; version: string }) =>
    join(folder, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  return Object.fromEntries(
    PACKAGES.map((each) => readManifest(each)).map((manifest) => [manifest.name, toArchive(manifest)]),
  );
}

/** Creates a folder with the packed packages, in which those of `test/interop` and the repository resolve, too. */
export function installPackages(): string {
  const folder = temporaryFolder();
  const modules = join(folder, 'node_modules');
  for (const [name, archive] of Object.entries(pack())) {
    mkdirSync(join(modules, name), { recursive: true });
    outputOf(folder, ['tar', '-xzf', archive, '--strip-components=1', '-C', join(modules, name)]);
  }
  for (const from of [inRepository('node_modules'), installed('.')])
    for (const name of readdirSync(from))
      if (!existsSync(join(modules, name))) symlinkSync(join(from, name), join(modules, name));
  return folder;
}
