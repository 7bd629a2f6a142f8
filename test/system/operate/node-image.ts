import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';

/** Name of the image that replaces the official Node image, with a compiler. With the suffix `-slim`: without one. */
export const NODE_IMAGE = 'localhost/node:test';

/**
 * Creates images with Debian and the Node of this machine, laid out as the official ones, so that the tests need no
 * registry of images.
 *
 * @param folder a folder for the file systems, 1 GB
 * @param environment variables for buildah
 */
export function createNodeImages(folder: string, environment: NodeJS.ProcessEnv): void {
  const run = (program: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: environment });
    expect(status, `${program} ${args.join(' ')}: ${stdout}${stderr}`).to.equal(0);
    return stdout.trim();
  };
  const [slim, full] = [join(folder, 'slim'), join(folder, 'full')];
  const [, release = ''] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? [];
  run('debootstrap', '--variant=minbase', '--include=libstdc++6', release, slim);
  const prefix = dirname(dirname(process.execPath));
  for (const path of ['bin/node', 'include/node', 'lib/node_modules/npm']) {
    mkdirSync(join(slim, 'usr/local', dirname(path)), { recursive: true });
    cpSync(join(prefix, path), join(slim, 'usr/local', path), { recursive: true });
  }
  run('ln', '-s', '../lib/node_modules/npm/bin/npm-cli.js', join(slim, 'usr/local/bin/npm'));
  run('cp', '-a', slim, full);
  run('chroot', full, 'apt-get', 'update');
  run('chroot', full, 'apt-get', 'install', '--yes', '--no-install-recommends', 'g++', 'make', 'python3');
  // A certificate authority that npm on this machine has to trust.
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  if (certificates) cpSync(certificates, join(full, 'usr/local/share/certificates.pem'));

  for (const [tree, name] of [
    [slim, `${NODE_IMAGE}-slim`],
    [full, NODE_IMAGE],
  ] as const) {
    for (const path of ['usr/share/doc', 'usr/share/locale', 'usr/share/man', 'var/cache/apt', 'var/lib/apt/lists']) {
      rmSync(join(tree, path), { recursive: true, force: true });
    }
    const container = run('buildah', 'from', 'scratch');
    run('buildah', 'copy', '--quiet', container, tree, '/');
    rmSync(tree, { recursive: true });
    const extra =
      tree === full && certificates ? ['--env', 'NODE_EXTRA_CA_CERTS=/usr/local/share/certificates.pem'] : [];
    const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
    run('buildah', 'config', '--env', `PATH=${path}`, ...extra, container);
    run('buildah', 'commit', '--quiet', '--rm', container, name);
  }
}
