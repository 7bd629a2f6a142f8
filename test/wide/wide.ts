import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, type Context } from 'mocha';
import { needs } from '../support/needs.js';
import { inRepository } from '../support/paths.js';

/** How long a program may run, in milliseconds. */
const RUN_MS_MAX = 120_000;

const MODULES = inRepository('test/wide/node_modules');

/** Skips a test, by name, where what `test/wide` needs is not installed; where `CI=true` that is a failure. */
export function needsWide(context: Context): void {
  needs(context, existsSync(join(MODULES, '.package-lock.json')), 'what test/wide needs: npm ci --prefix test/wide');
}

/** The path of a file of a package that `test/wide` has installed, such as `.bin/publint`. */
export function wide(path: string): string {
  return join(MODULES, path);
}

/** The package as it would be published: a tarball, in a folder that is removed when the tests end. */
export function tarball(): string {
  packed ??= pack();
  return packed;
}
let packed: string | undefined;

function pack(): string {
  const folder = mkdtempSync(join(MODULES, '.tarball-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const { stdout, stderr } = spawnSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', folder], {
    cwd: inRepository(''),
    encoding: 'utf8',
  });
  const filename = /"filename": "([^"]+)"/.exec(stdout)?.[1];
  if (filename === undefined) throw new Error(`npm pack: ${stderr}`);
  return join(folder, filename);
}

/**
 * A new folder in which `plant-store` is installed out of its tarball, beside all that `test/wide` and the repository have
 * installed; it is removed when the surrounding suite ends. Nothing is downloaded. Call it inside `describe` or a hook.
 */
export function folderWithPackage(): string {
  // Inside `node_modules`, Node looks for packages in those of `test/wide`, then in those of the repository.
  const folder = mkdtempSync(join(MODULES, '.embedding-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  after(remove);
  process.once('exit', remove);
  const target = join(folder, 'node_modules/plant-store');
  mkdirSync(target, { recursive: true });
  const { status, stderr } = spawnSync('tar', ['-xzf', tarball(), '--strip-components=1', '-C', target], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`tar: ${stderr}`);
  return folder;
}

/** Runs a program to its end, in a folder. Where the tests' coverage is taken, its own is not: nobody asks for it. */
export function runToEnd(folder: string, command: readonly [string, ...string[]]) {
  const [program, ...args] = command;
  const { NODE_V8_COVERAGE, ...env } = process.env;
  return spawnSync(program, args, {
    cwd: folder,
    env: { ...env, NO_COLOR: '1' },
    encoding: 'utf8',
    timeout: RUN_MS_MAX,
  });
}
