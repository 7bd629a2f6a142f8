import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { endProgramsAfterEach } from '../support/executable.js';
import { needs } from '../support/needs.js';
import { exchange, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { byId, create, linesOf, outcomeOf, serve, type TestPlant } from './client.js';
import { plantsIn } from './sqlite-file.js';

const NAME_LENGTH = 20_000;

describe('On a full disk', () => {
  endProgramsAfterEach();
  const disk = join(temporaryFolder(), 'disk');
  mkdirSync(disk);

  beforeEach(function () {
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'plant-store-test', disk]).status === 0;
    needs(this, mounted, 'the permission to mount a tmpfs');
  });
  afterEach(() => spawnSync('umount', ['--lazy', disk]));

  /** Takes all room on the disk but `leftBytes`. */
  function fill(leftBytes: number): void {
    const { bavail, bsize } = statfsSync(disk);
    writeFileSync(join(disk, 'filler'), Buffer.alloc(bavail * bsize - leftBytes));
  }

  async function expectFailedStart(): Promise<void> {
    const service = serve(disk);
    expect(await service.exited()).to.equal(1);
    const [line = '', ...others] = linesOf(service.stderr);
    expect(others).to.deep.equal([]);
    expect(line).to.match(/^plant-store: cannot open the SQLite file .*plants\.db: the disk .*is full$/);
  }

  it('creates are refused with 503 until there is room again, and no plant is lost', async () => {
    fill(600 * 1024);
    const service = serve(disk);
    const port = await service.port();
    const created: TestPlant[] = [];
    let refused: TestPlant | undefined;
    for (let id = 1n; id <= 60n; id++) {
      const plant = { id, name: `${id} `.padEnd(NAME_LENGTH, 'x') };
      const outcome = outcomeOf(await create(port, plant));
      expect(outcome).to.be.oneOf([200, 50301]);
      if (outcome === 200) created.push(plant);
      else refused ??= plant;
    }
    expect(created).not.to.have.length(0);
    if (refused === undefined) throw new Error('the disk was never full');

    expect((await exchange(port, request('GET /openapi.json')))?.status, 'still serves').to.equal(200);
    rmSync(join(disk, 'filler'));
    expect(outcomeOf(await create(port, refused)), 'sent again').to.equal(200);

    fill(0);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    rmSync(join(disk, 'filler'));
    expect(await plantsIn(join(disk, 'plants.db'))).to.deep.equal(byId([...created, refused]));
  });

  for (const left of [0, 8 * 1024, 32 * 1024]) {
    it(`a start on a new file with ${left} bytes left says so in one line`, async () => {
      fill(left);
      await expectFailedStart();
    });
  }

  it('a start on an existing file says so in one line', async () => {
    const earlier = serve(disk);
    await earlier.port();
    await earlier.kill('SIGTERM').exited();
    fill(0);
    await expectFailedStart();
  });
});
