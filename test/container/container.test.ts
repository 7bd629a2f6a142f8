import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { create, toLines } from '../support/client.js';
import { Program } from '../support/executable.js';
import { runCommands } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { freePort } from '../support/port.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

/** Needs Debian's packages podman, runc and debootstrap. */
describe('The container', () => {
  // Registered first, so that it runs before the folder is removed.
  after(() => {
    podman('rm', '--all', '--force');
    podman('image', 'umount', '--all');
    spawnSync('umount', [join(storage, 'overlay')]);
  });
  const folder = temporaryFolder();
  const storage = join(folder, 'storage');
  const environment = {
    PATH: `${process.env['PATH']}`,
    HOME: folder,
    NODE: inRepository('test/interop/node_modules/node-24'),
    CERTIFICATES: process.env['NODE_EXTRA_CA_CERTS'] ?? '/dev/null',
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    ...{ BUILDAH_FORMAT: 'docker', BUILDAH_ISOLATION: 'chroot', DISABLE_HC_SYSTEMD: 'true' },
  };
  const podman = (...args: string[]) => spawnSync('podman', args, { encoding: 'utf8', env: environment }).stdout.trim();

  it('of the guide contains the drivers, is healthy, creates plants with the token that it prints, and shuts down', async function () {
    // Installs Debian and builds the service: 1 minute, or many on a busy machine.
    this.timeout(1_800_000);
    for (const program of ['podman', 'runc', 'debootstrap']) skipUnlessInstalled(this, program, '--version');
    skipUnless(this, process.getuid?.() === 0, 'root, for debootstrap');
    skipUnless(this, existsSync(environment.NODE), 'npm install --prefix test/interop');
    writeFileSync(
      environment.CONTAINERS_STORAGE_CONF,
      `[storage]\ndriver = "overlay"\ngraphroot = "${storage}"\nrunroot = "${storage}-run"\n`,
    );
    // Containers use the network of this machine and the cgroups of any version.
    writeFileSync(
      environment.CONTAINERS_CONF,
      `[containers]\nnetns = "host"\nlog_driver = "none"\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
       [engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\ntmp_dir = "${storage}-tmp"\n`,
    );
    await runCommands(`'${inRepository('test/container/node-image.sh')}'`, folder, environment);
    const comments = readFileSync(inRepository('Containerfile'), 'utf8').matchAll(/^# {3}(.*\n)/gm);
    const commands = Array.from(comments, ([, line]) => line).join('');
    const [build, printToken = '', serve = ''] = commands.split(/^(?=docker)/m);
    const podmanBuild = build?.replace('docker build', `podman build --build-arg NODE=localhost/node:test`);
    await runCommands(`cd '${inRepository('.')}'; ${podmanBuild}`, folder, environment);

    const root = podman('image', 'mount', 'plant-store');
    expect(readdirSync(join(root, 'opt/plant-store/node_modules')))
      .to.include.members(['pg', 'mysql2'])
      .and.not.include('sqlite3');
    const [port, managementPort] = [await freePort(), await freePort()];
    const token = await runCommands(printToken.replace('docker', 'podman'), folder, environment);
    const [credential, , digest = ''] = toLines(token);
    // In the foreground and in place of the shell, so that signals reach it, and without restarts, which would follow.
    const podmanRun = serve.replace(/docker run -d(.*) --restart \S+/, 'exec podman run$1 -e PORT -e MANAGEMENT_PORT');
    const settings = { PORT: `${port}`, MANAGEMENT_PORT: `${managementPort}`, ACCESS_TOKENS: digest };
    const container = new Program(folder, ['sh', '-uc', podmanRun], { ...environment, ...settings });
    await container.port();
    const headers = { Authorization: `Bearer ${credential}` };
    expect((await create(port, { id: 1n, name: 'Monstera' }, headers))?.outcome).to.equal(200);
    expect(spawnSync('podman', ['healthcheck', 'run', 'plant-store'], { env: environment }).status).to.equal(0);
    expect(await container.stop(), container.stderr).to.equal(0);
  });
});
