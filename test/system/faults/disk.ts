import { spawnSync } from 'node:child_process';
import { chmodSync, closeSync, mkdirSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, type Context } from 'mocha';
import { skipUnless } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';

/** A small file system, unmounted after each test of the surrounding suite. Create it inside `describe`. */
export class Disk {
  readonly path: string;

  constructor() {
    const folder = temporaryFolder();
    this.path = join(folder, 'disk');
    mkdirSync(this.path);
    // Database servers run as another user.
    chmodSync(folder, 0o755);
    afterEach(() => spawnSync('umount', ['--lazy', this.path]));
  }

  /** Mounts an empty file system in memory. Skips the test without the permission. */
  mountTmpfs(context: Context, sizeMib: number): void {
    const isMounted = this.mount('-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'plant-store-test');
    skipUnless(context, isMounted, 'permission to mount a tmpfs');
  }

  /** Returns whether `mount` succeeded. */
  mount(...args: readonly string[]): boolean {
    return spawnSync('mount', [...args, this.path]).status === 0;
  }

  /** Fills the disk except for `freeBytes`. */
  fill(freeBytes: number): void {
    const { bavail, bsize } = statfsSync(this.path);
    const filler = openSync(join(this.path, 'filler'), 'w');
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize - freeBytes));
    } catch (error) {
      // The service has used some of the free space meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    } finally {
      closeSync(filler);
    }
  }

  /** Ends {@link fill}. */
  free(): void {
    rmSync(join(this.path, 'filler'));
  }
}
