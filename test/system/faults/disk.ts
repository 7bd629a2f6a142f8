import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, type Context } from 'mocha';
import { skipUnless } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';

/** A small disk in memory, unmounted after each test of the surrounding suite. Create it inside `describe`. */
export class Disk {
  readonly path: string;

  constructor() {
    const folder = temporaryFolder();
    // Database servers run as another user.
    chmodSync(folder, 0o755);
    this.path = join(folder, 'disk');
    mkdirSync(this.path);
    afterEach(() => spawnSync('umount', ['--lazy', this.path]));
  }

  /** Mounts an empty file system. Skips the test without the permission. */
  mount(context: Context, sizeMib: number): void {
    const options = ['-t', 'tmpfs', '-o', `size=${sizeMib}m`, 'plant-store-test', this.path];
    skipUnless(context, spawnSync('mount', options).status === 0, 'permission to mount a tmpfs');
  }

  /** Writes until there is no space. */
  fill(): void {
    spawnSync('dd', ['if=/dev/zero', `of=${this.path}/filler`, 'bs=4k']);
  }

  /** Ends {@link fill}. */
  free(): void {
    rmSync(join(this.path, 'filler'));
  }
}
