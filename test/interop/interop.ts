import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, type Context } from 'mocha';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';

const RUN_TIMEOUT_MS = 120_000;

const MODULES = inRepository('test/interop/node_modules');

/** Skips a test if the packages of `test/interop` are not installed. Throws instead if `CI=true`. */
export function skipUnlessInteropInstalled(context: Context): void {
  skipUnless(
    context,
    existsSync(join(MODULES, '.package-lock.json')),
    'the packages of test/interop; run npm ci --prefix test/interop',
  );
}

/** Returns the path of a file installed in `test/interop/node_modules`, such as `.bin/publint`. */
export function installed(path: string): string {
  return join(MODULES, path);
}

/** Returns the path of the package tarball as it would be published. Packs it once per process. */
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
 * Creates a folder with `plant-store` installed from its tarball; the packages of `test/interop` and of the repository
 * resolve, too. Downloads nothing. The surrounding suite removes the folder. Call it inside `describe` or a hook.
 */
export function installPackage(): string {
  // Inside `node_modules`, Node resolves packages from `test/interop`, then from the repository.
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

/** Runs a program in a folder until it exits, without collecting its coverage. */
export function runUntilExit(folder: string, command: readonly [string, ...string[]]) {
  const [program, ...args] = command;
  const { NODE_V8_COVERAGE, ...env } = process.env;
  return spawnSync(program, args, {
    cwd: folder,
    env: { ...env, NO_COLOR: '1' },
    encoding: 'utf8',
    timeout: RUN_TIMEOUT_MS,
  });
}
