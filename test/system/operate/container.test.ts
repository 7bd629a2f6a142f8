import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, beforeEach, describe, it } from 'mocha';
import { create, toLines } from '../../support/client.js';
import { plantLines } from '../../support/command-folder.js';
import { databasesOn, postgresServer } from '../../support/database-servers.js';
import { serverStore, sqliteStore, type TestStore } from '../../support/engines.js';
import { Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { freePort } from '../../support/port.js';
import { TOKEN } from '../../support/service.js';
import { skipUnless, skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';
import { Load } from '../load.js';
import { commandsUnder, guide, run } from './guide.js';
import { createNodeImages, NODE_IMAGE } from './node-image.js';

/** The parts of an image's configuration that these tests use. */
interface ImageConfig {
  readonly User: string;
  readonly ExposedPorts: object;
  readonly Volumes: object;
  readonly Labels: Readonly<Record<string, string>>;
  readonly Healthcheck: { readonly Test: readonly string[] };
}

const readJson = (path: string) => JSON.parse(readFileSync(path, 'utf8'));

describe('The container', function () {
  // The first hook installs Debian, compiles sqlite3 and builds the service: 2 minutes, or many on a busy machine.
  this.timeout(1_800_000);
  const environment: Record<string, string> = {};
  after(() => {
    spawnSync('buildah', ['rm', '--all'], { env: environment });
    spawnSync('umount', [join(storage, 'overlay')]);
  });
  const folder = temporaryFolder();
  const storage = join(folder, 'storage');
  const databases = databasesOn(postgresServer);
  const [build, printToken, onSqlite, onPostgres, importFile] = commandsUnder('In a container');
  /** Folder with the volumes of one test. */
  let volumes: string;
  let port: number;
  let managementPort: number;

  before(async function () {
    for (const program of ['buildah', 'debootstrap', 'unshare']) skipUnlessInstalled(this, program, '--version');
    skipUnless(this, process.getuid?.() === 0, 'root, for namespaces');
    skipUnless(this, spawnSync('npm', ['view', 'koa', 'version']).status === 0, 'an npm registry');
    const bin = join(folder, 'docker-bin');
    mkdirSync(bin);
    const docker = inRepository('dist/test/system/operate/docker.js');
    writeFileSync(join(bin, 'docker'), `#!/bin/sh\nexec '${process.execPath}' '${docker}' "$@"\n`, { mode: 0o755 });
    const settings = `[storage]\ndriver = "overlay"\ngraphroot = "${storage}"\nrunroot = "${storage}-run"\n`;
    writeFileSync(join(folder, 'storage.conf'), settings);
    Object.assign(environment, {
      PATH: `${bin}:${process.env['PATH']}`,
      HOME: process.env['HOME'],
      CONTAINERS_STORAGE_CONF: join(folder, 'storage.conf'),
      DOCKER_NODE_IMAGE: NODE_IMAGE,
    });
    createNodeImages(folder, environment);
    await run(build, inRepository('.'), environment);
  });

  beforeEach(async () => {
    [port, managementPort] = [await freePort(), await freePort()];
    volumes = mkdtempSync(join(folder, 'volumes-'));
    Object.assign(environment, {
      DOCKER_ENV: `PORT=${port} MANAGEMENT_PORT=${managementPort}`,
      DOCKER_VOLUMES: volumes,
    });
  });

  /** Runs a command of the guide in place of the shell, so that signals reach it. */
  function start(command: string | undefined, more: Readonly<Record<string, string>> = {}): Program {
    return new Program(folder, ['sh', '-uc', `exec ${command}`], { ...environment, ...more });
  }

  async function expectGracefulStop(container: Program): Promise<void> {
    expect(await container.stop(), container.stderr).to.equal(0);
    const stopped = toLines(container.stderr)
      .map((line) => JSON.parse(line))
      .at(-1);
    expect(stopped).to.include({ msg: 'stopped', finished: true, closed: true });
  }

  /** Loads the container with small and large plants, stops it and expects that nothing was lost. */
  async function expectNothingLostUnderLoad(container: Program, store: TestStore): Promise<void> {
    await container.port();
    const load = new Load();
    load.start(port);
    await load.waitForOutcomes(2000, 200);
    const name = 'x'.repeat(1_000_000);
    for (let round = 1n; round <= 3n; round++) {
      const large = Array.from({ length: 100 }, (_, index) => ({ id: round * 1_000_000_000n + BigInt(index), name }));
      const outcomes = await Promise.all(large.map((plant) => load.create(port, plant)));
      expect([200, 50302]).to.include.members([...new Set(outcomes)]);
    }
    await load.stop();
    await expectGracefulStop(container);
    load.expectNoViolations(await store.readPlants());
  }

  it('creates a token that the service then accepts', async () => {
    const [token = '', , digest = ''] = (await run(printToken, folder, environment)).split('\n');
    const container = start(onSqlite, { ACCESS_TOKENS: digest });
    await container.port();
    const headers = { Authorization: `Bearer ${token}` };
    expect((await create(port, { id: 1n, name: 'Monstera' }, headers))?.outcome).to.equal(200);
    expect((await create(port, { id: 2n, name: 'Monstera' }))?.outcome).to.equal(40102);
    await expectGracefulStop(container);
  });

  it('does not start without a token, and prints how to create one', async () => {
    const container = start('docker run --rm plant-store');
    expect(await container.exited()).to.equal(78);
    expect(container.stderr).to.match(/^plant-store: ACCESS_TOKENS.* \(docker run --rm plant-store token\)\n$/);
  });

  it('is restricted by the commands of the guide: read-only, without capabilities, in 128 MiB', () => {
    for (const command of [onSqlite, onPostgres]) {
      expect(command).to.include('--read-only --cap-drop ALL --security-opt no-new-privileges --memory 128m');
    }
  });

  it('loses no plant under load, on SQLite and on PostgreSQL', async () => {
    const onSqliteStore = sqliteStore(join(volumes, 'plants/plants.db'));
    await expectNothingLostUnderLoad(start(onSqlite, { ACCESS_TOKENS: TOKEN }), onSqliteStore);
    const url = await databases.create();
    const container = start(onPostgres, { ACCESS_TOKENS: TOKEN, DATABASE_URL: url });
    await expectNothingLostUnderLoad(container, serverStore(url, 'pg', databases.connect(url)));
  });

  it('imports a file into the volume while the service runs', async () => {
    const service = start(onSqlite, { ACCESS_TOKENS: TOKEN });
    await service.port();
    writeFileSync(join(folder, 'plants.ndjson'), plantLines(1_000_000, 1000));
    const container = start(importFile);
    expect(await container.exited()).to.equal(0);
    expect(container.stderr).to.include('1000 plants created, 0 already stored, 0 lines rejected');
    expect((await create(port, { id: 1_000_007n, name: 'plant 1000007' }))?.outcome).to.equal(40902);
    await expectGracefulStop(service);
  });

  describe('image', () => {
    let root: string;
    let config: ImageConfig;
    const buildah = (...args: string[]) =>
      spawnSync('buildah', args, { encoding: 'utf8', env: environment }).stdout.trim();
    before(() => {
      root = buildah('mount', buildah('from', 'plant-store'));
      config = JSON.parse(buildah('inspect', '--type', 'image', 'plant-store')).Docker.config;
    });

    it('has an unprivileged user, a volume, two ports and labels', () => {
      expect(config.User).to.match(/^[1-9]\d*:[1-9]\d*$/);
      expect(config.Volumes).to.have.all.keys('/data');
      expect(config.ExposedPorts).to.have.all.keys('3000/tcp', '3001/tcp');
      const { version, license } = readJson(inRepository('package.json'));
      const label = (name: string) => config.Labels[`org.opencontainers.image.${name}`];
      expect([label('title'), label('version'), label('licenses')]).to.deep.equal(['Plant Store', version, license]);
    });

    it('checks the health of the service with Node alone', async () => {
      const [kind, program, ...args] = config.Healthcheck.Test;
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
      const versions = Object.keys(packages).map((path) => [path, packages[path].version]);
      expect(versions).to.deep.equal(versions.map(([path]) => [path, locked[path].version]));
      const names = readdirSync(join(root, 'opt/plant-store/node_modules'));
      expect(names).to.include.members(['koa', 'sqlite3', 'pg', 'mysql2']).and.not.include.members(['typescript']);
    });

    it('has the sizes that the guide states, within 20 %', () => {
      const megabytesIn = (path: string, ...args: string[]) => {
        const { stdout } = spawnSync('du', ['-sb', ...args, join(root, path)], { encoding: 'utf8' });
        return Number.parseInt(stdout, 10) / 1e6;
      };
      const documented = (pattern: RegExp) => Number(pattern.exec(guide)?.[1]);
      const dependencies = documented(/`node_modules` is (\d+) MB/);
      expect(megabytesIn('opt/plant-store/node_modules')).to.be.closeTo(dependencies, dependencies / 5);
      const own = documented(/the package (\d+) MB/);
      expect(megabytesIn('opt/plant-store', '--exclude=node_modules')).to.be.closeTo(own, own / 5);
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
