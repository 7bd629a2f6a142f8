import { spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, openSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { byId, create, serve, type TestPlant, toLines, toOutcome } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { endProgramsAfterEach } from '../support/executable.js';
import { randomNumbers } from '../support/random.js';
import { exchange, request } from '../support/raw-http.js';
import { skipUnless } from '../support/skip-unless.js';
import { testOrSoak } from '../support/soak.js';
import { readSqlitePlants } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { CLIENTS, Load } from './load.js';

const NAME_LENGTH = 20_000;

describe('On a full disk, the service', () => {
  endProgramsAfterEach();
  const random = randomNumbers();
  const disk = join(temporaryFolder(), 'disk');
  mkdirSync(disk);

  beforeEach(function () {
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=16m', 'plant-store-test', disk]).status === 0;
    skipUnless(this, mounted, 'permission to mount a tmpfs');
  });
  afterEach(() => spawnSync('umount', ['--lazy', disk]));

  /** Fills the disk except for `freeBytes`. */
  function fill(freeBytes: number): void {
    const { bavail, bsize } = statfsSync(disk);
    const filler = openSync(join(disk, 'filler'), 'w');
    try {
      writeFileSync(filler, Buffer.alloc(bavail * bsize - freeBytes));
    } catch (error) {
      // The service has used some of the free space meanwhile.
      if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
    } finally {
      closeSync(filler);
    }
  }

  async function expectFailedStart(): Promise<void> {
    const service = serve(disk);
    expect(await service.exited()).to.equal(1);
    const [line = '', ...others] = toLines(service.stderr);
    expect(others).to.deep.equal([]);
    expect(line).to.match(/^plant-store: cannot open sqlite:.*plants\.db: the disk .*is full$/);
  }

  it('rejects creates with 503 until there is space again, and loses no plant', async () => {
    fill(600 * 1024);
    const service = serve(disk);
    const port = await service.port();
    const created: TestPlant[] = [];
    let rejected: TestPlant | undefined;
    for (let id = 1n; id <= 60n; id++) {
      const plant = { id, name: `${id} `.padEnd(NAME_LENGTH, 'x') };
      const outcome = toOutcome(await create(port, plant));
      expect(outcome).to.be.oneOf([200, 50301]);
      if (outcome === 200) created.push(plant);
      else rejected ??= plant;
    }
    expect(created).not.to.have.length(0);
    if (rejected === undefined) throw new Error('the disk was never full');

    expect((await exchange(port, request('GET /openapi.json')))?.status, 'GET /openapi.json').to.equal(200);
    rmSync(join(disk, 'filler'));
    expect(toOutcome(await create(port, rejected)), 'a retry').to.equal(200);

    fill(0);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    rmSync(join(disk, 'filler'));
    expect(await readSqlitePlants(join(disk, 'plants.db'))).to.deep.equal(byId([...created, rejected]));
  });

  it(`loses and truncates no plant with ${CLIENTS} clients while the disk fills repeatedly`, async function () {
    const times = testOrSoak(3, 30);
    this.timeout(120_000 + times * 5000);
    const service = serve(disk, { LOG_LEVEL: 'fatal' });
    const port = await service.port();
    const load = new Load();
    load.start(port);
    for (let time = 0; time < times; time++) {
      await load.waitForOutcomes(CLIENTS, 200);
      fill(Math.floor(random() * 200 * 1024));
      await load.waitForOutcomes(2 * CLIENTS, 50301);
      rmSync(join(disk, 'filler'));
    }
    await load.waitForOutcomes(CLIENTS, 200);
    await load.stop();
    expect(load.outcomes()).to.have.members([...conclusive, 50301]);
    await load.retryUnknown(port);

    fill(0);
    await service.kill('SIGKILL').exited();
    rmSync(join(disk, 'filler'));
    const store = sqliteStore(join(disk, 'plants.db'));
    load.expectNoViolations(await store.readPlants());
    expect(await store.checkIntegrity()).to.deep.equal([]);
  });

  for (const freeBytes of [0, 8 * 1024, 32 * 1024]) {
    it(`fails to start with a one-line error on a new file when ${freeBytes} bytes are free`, async () => {
      fill(freeBytes);
      await expectFailedStart();
    });
  }

  it('fails to start with a one-line error on an existing file', async () => {
    const earlier = serve(disk);
    await earlier.port();
    await earlier.kill('SIGTERM').exited();
    fill(0);
    await expectFailedStart();
  });
});
