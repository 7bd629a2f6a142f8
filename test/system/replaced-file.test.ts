import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { create, serve, toOutcome } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { type Executable, endProgramsAfterEach } from '../support/executable.js';
import { temporaryFolder } from '../support/temporary.js';
import { CLIENTS, Load } from './load.js';

describe('A service whose SQLite file is replaced while open', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let files = 0;
  let path: string;
  let service: Executable;
  let port: number;
  beforeEach(async () => {
    path = join(folder, `${++files}.db`);
    service = serve(folder, { DATABASE_URL: `sqlite:${path}`, LOG_LEVEL: 'error' });
    port = await service.port();
    expect(toOutcome(await create(port, { id: 1n, name: 'before' }))).to.equal(200);
  });

  const replacements: Readonly<Record<string, () => void>> = {
    'the file is deleted': () => rmSync(path),
    'the file is moved': () => renameSync(path, `${path}.moved`),
    'a backup replaces the file': () => {
      copyFileSync(path, `${path}.backup`);
      renameSync(`${path}.backup`, path);
    },
    'the write-ahead log is deleted': () => rmSync(`${path}-wal`),
    'the folder is moved': () => {
      renameSync(folder, `${folder}.moved`);
    },
  };
  for (const [what, replace] of Object.entries(replacements)) {
    it(`returns 503 and logs the reason if ${what}`, async () => {
      replace();
      try {
        expect(toOutcome(await create(port, { id: 2n, name: 'after' }))).to.equal(50301);
        expect(toOutcome(await create(port, { id: 1n, name: 'before' })), 'a retry').to.equal(50301);
        const [line] = await service.waitForOutput(/^.*was moved, deleted or replaced; restart the service.*\n/m);
        expect(JSON.parse(line)).to.include({ level: 'error', error: 50301 });
        expect(await service.kill('SIGTERM').exited()).to.equal(0);
      } finally {
        if (what === 'the folder is moved') renameSync(`${folder}.moved`, folder);
      }
    });
  }

  it('accepts plants again once the file is back in place', async () => {
    renameSync(path, `${path}.moved`);
    expect(toOutcome(await create(port, { id: 2n, name: 'after' }))).to.equal(50301);
    renameSync(`${path}.moved`, path);
    expect(toOutcome(await create(port, { id: 2n, name: 'after' }))).to.be.oneOf([200, 40902]);
  });

  it(`acknowledges only plants that are in the moved file, under load from ${CLIENTS} clients`, async () => {
    const moved = join(folder, 'moved.db');
    const load = new Load();
    load.start(port);
    await load.waitForOutcomes(CLIENTS, 200);
    renameSync(path, moved);
    await load.waitForOutcomes(3 * CLIENTS, 50301);
    await load.stop();
    const movedAt = load.history.findIndex(({ outcome }) => outcome === 50301);
    expect(load.history.slice(movedAt).filter(({ outcome }) => outcome === 200)).to.have.length.below(CLIENTS);
    await service.kill('SIGTERM').exited();
    renameSync(`${path}-wal`, `${moved}-wal`);
    const plants = await sqliteStore(moved).readPlants();
    load.expectNoViolations(plants.filter(({ name }) => name !== 'before'));
  });

  it('creates the file anew when restarted', async () => {
    rmSync(path);
    expect(toOutcome(await create(port, { id: 2n, name: 'after' }))).to.equal(50301);
    await service.kill('SIGTERM').exited();
    const again = serve(folder, { DATABASE_URL: `sqlite:${path}` });
    expect(toOutcome(await create(await again.port(), { id: 2n, name: 'after' }))).to.equal(200);
    expect(await sqliteStore(path).readPlants()).to.deep.equal([{ id: 2n, name: 'after' }]);
  });
});
