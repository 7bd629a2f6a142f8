import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { create, toLines } from '../support/client.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { plantLines } from '../support/plants.js';
import { freePort } from '../support/port.js';
import { TOKEN } from '../support/service.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { commandsUnder, run } from '../system/operate/guide.js';

/** Image that replaces the official Node image, with a compiler. With the suffix `-slim`: without one. */
const NODE_IMAGE = 'localhost/node:test';
/** Builds both images from Debian and the Node of this machine, so that the tests need no registry of images. */
const BUILD_NODE_IMAGES = `
  set -e
  . /etc/os-release
  debootstrap --variant=minbase --include=libstdc++6 $VERSION_CODENAME slim
  cd "$(dirname "$NODE")/.." && cp -r --parents bin/node include/node lib/node_modules/npm "$HOME/slim/usr/local" && cd -
  ln -s ../lib/node_modules/npm/bin/npm-cli.js slim/usr/local/bin/npm
  # Certificate authorities that npm on this machine has to trust.
  cat "$CERTIFICATES" > slim/usr/local/share/certificates.pem
  rm -r slim/usr/share/doc slim/usr/share/locale slim/var/cache/apt slim/var/lib/apt/lists
  tar -C slim -c . | podman import --change ENV=PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin - ${NODE_IMAGE}-slim
  podman build -t ${NODE_IMAGE} - <<END
    FROM ${NODE_IMAGE}-slim
    RUN apt-get update && apt-get install --yes --no-install-recommends g++ make python3
    ENV NODE_EXTRA_CA_CERTS=/usr/local/share/certificates.pem
END`;

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('The container', function () {
  // The first hook installs Debian, compiles sqlite3 and builds the service: 2 minutes, or many on a busy machine.
  this.timeout(1_800_000);
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
    NODE: process.execPath,
    CERTIFICATES: process.env['NODE_EXTRA_CA_CERTS'] ?? '/dev/null',
    CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
    CONTAINERS_CONF: join(folder, 'containers.conf'),
    ...{ BUILDAH_FORMAT: 'docker', BUILDAH_ISOLATION: 'chroot', DISABLE_HC_SYSTEMD: 'true' },
  };
  const [build, printToken, onSqlite, importFile] = commandsUnder('In a container');
  let port: number;
  let managementPort: number;

  const podman = (...args: string[]) => spawnSync('podman', args, { encoding: 'utf8', env: environment }).stdout.trim();

  before(async function () {
    for (const program of ['podman', 'runc', 'debootstrap']) skipUnlessInstalled(this, program, '--version');
    skipUnless(this, process.getuid?.() === 0, 'root, for debootstrap');
    skipUnless(this, spawnSync('npm', ['view', 'koa', 'version']).status === 0, 'an npm registry');
    const settings = `[storage]\ndriver = "overlay"\ngraphroot = "${storage}"\nrunroot = "${storage}-run"\n`;
    writeFileSync(environment.CONTAINERS_STORAGE_CONF, settings);
    // Containers use the network of this machine and the cgroups of any version.
    writeFileSync(
      environment.CONTAINERS_CONF,
      `[containers]\nnetns = "host"\nlog_driver = "none"\ndefault_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
       [engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\ntmp_dir = "${storage}-tmp"\n`,
    );
    await run(BUILD_NODE_IMAGES, folder, environment);
    const command = build?.replace('docker build', `podman build --build-arg NODE=${NODE_IMAGE}`);
    await run(command, inRepository('.'), environment);
  });

  beforeEach(async () => {
    podman('rm', '--all', '--force');
    podman('volume', 'rm', '--all');
    [port, managementPort] = [await freePort(), await freePort()];
  });

  /**
   * Runs a command of the guide with Podman, in the foreground and in place of the shell, so that signals reach it, and
   * without restarts, which would follow a signal.
   */
  function start(command: string | undefined, more: Readonly<Record<string, string>> = {}): Program {
    const podmanRun = `podman run -e PORT=${port} -e MANAGEMENT_PORT=${managementPort} `;
    const line = `exec ${command?.replace(/^docker run (-d )?/, podmanRun).replace(/--restart \S+ /, '')}`;
    return new Program(folder, ['sh', '-uc', line], { ...environment, ...more });
  }

  async function expectGracefulStop(container: Program): Promise<void> {
    expect(await container.stop(), container.stderr).to.equal(0);
    expect(container.stderr).to.include('"finished":true,"closed":true');
  }

  it('creates a token that the service then accepts', async () => {
    const { stdout } = await start(printToken).result();
    const [token = '', , digest = ''] = toLines(stdout);
    const container = start(onSqlite, { ACCESS_TOKENS: digest });
    await container.port();
    const headers = { Authorization: `Bearer ${token}` };
    expect((await create(port, { id: 1n, name: 'Monstera' }, headers))?.outcome).to.equal(200);
    expect((await create(port, { id: 2n, name: 'Monstera' }))?.outcome).to.equal(40102);
    await expectGracefulStop(container);
  });

  it('imports a file into the volume while the service runs', async () => {
    const service = start(onSqlite, { ACCESS_TOKENS: TOKEN });
    await service.port();
    writeFileSync(join(folder, 'plants.ndjson'), plantLines(1_000_000, 1000));
    const container = start(importFile);
    expect(await container.exited(), container.stderr).to.equal(0);
    expect(container.stderr).to.include('1000 plants created, 0 already stored, 0 lines rejected');
    expect((await create(port, { id: 1_000_007n, name: 'plant 1000007' }))?.outcome).to.equal(40902);
    await expectGracefulStop(service);
  });

  describe('image', () => {
    let root: string;
    before(() => {
      root = podman('image', 'mount', 'plant-store');
    });

    it('checks the health of the service with Node alone', async () => {
      const [image] = JSON.parse(podman('image', 'inspect', 'plant-store'));
      const [kind, program, ...args] = image.Healthcheck.Test;
      expect([kind, program]).to.deep.equal(['CMD', 'node']);
      const check = () => new Program(folder, ['node', ...args], { MANAGEMENT_PORT: `${managementPort}` }).exited();
      expect(await check()).to.equal(1);
      const container = start(onSqlite, { ACCESS_TOKENS: TOKEN });
      await container.port();
      expect(await check()).to.equal(0);
      await expectGracefulStop(container);
    });

    it('contains exactly the locked versions of the production dependencies and of the drivers', () => {
      const { packages: locked } = readJson(inRepository('package-lock.json'));
      const { packages } = readJson(join(root, 'opt/plant-store/node_modules/.package-lock.json'));
      for (const path of Object.keys(packages)) expect(packages[path].version, path).to.equal(locked[path].version);
      const names = readdirSync(join(root, 'opt/plant-store/node_modules'));
      expect(names).to.include.members(['koa', 'sqlite3', 'pg', 'mysql2']).and.not.include('typescript');
    });

    it('contains no compiler, no npm cache and no test', () => {
      const programs = ['bin', 'usr/bin', 'usr/local/bin'].flatMap((path) => readdirSync(join(root, path)));
      expect(programs).to.include('node');
      expect(programs.filter((name) => /^(g?cc|c\+\+|g\+\+|make|python3?)$/.test(name))).to.deep.equal([]);
      expect(['root/.npm', 'home/node/.npm', 'src'].filter((path) => existsSync(join(root, path)))).to.deep.equal([]);
      const files = readdirSync(join(root, 'opt/plant-store'), { recursive: true, encoding: 'utf8' });
      expect(files.filter((path) => /^(?!node_modules|docs\/examples).*\.test\.[jt]s$/.test(path))).to.deep.equal([]);
    });
  });
});
