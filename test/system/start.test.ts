import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, runFailingStart, serve, toOutcome } from '../support/client.js';
import { endProgramsAfterEach } from '../support/executable.js';
import { readSqlitePlants } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The start with a SQLite file', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  /** Creates a store with the service and returns its bytes. */
  async function createStore(name: string): Promise<Buffer> {
    const service = serve(folder, { DATABASE_URL: `sqlite:${name}` });
    await service.port();
    await service.kill('SIGTERM').exited();
    return readFileSync(join(folder, name));
  }

  const unusable: Readonly<Record<string, { reason: string; make: (path: string) => unknown }>> = {
    'a file that is not a database': {
      reason: 'it is not a SQLite database',
      make: (path) => writeFileSync(path, 'Monstera, indoor\n'.repeat(1000)),
    },
    'a folder': { reason: 'it is a directory', make: (path) => mkdirSync(path) },
    'a truncated file': {
      reason: 'the database is corrupt; restore a backup',
      make: async (path) => writeFileSync(path, (await createStore('whole.db')).subarray(0, 5000)),
    },
    'a file with damaged pages': {
      reason: 'the database is corrupt; restore a backup',
      make: async (path) => writeFileSync(path, (await createStore('sound.db')).fill(0xaa, 4096)),
    },
    'a path below a file': {
      reason: 'a part of the path is a file, not a directory',
      make: (path) => writeFileSync(join(path, '..'), ''),
    },
  };
  for (const [index, [what, { reason, make }]] of Object.entries(unusable).entries()) {
    it(`fails with a one-line error for ${what}`, async () => {
      const name = what === 'a path below a file' ? `part-${index}/plants.db` : `unusable-${index}.db`;
      await make(join(folder, name));
      const { exitCode, lines } = await runFailingStart(folder, { DATABASE_URL: `sqlite:${name}` });
      expect(exitCode).to.equal(1);
      expect(lines).to.deep.equal([`plant-store: cannot open sqlite:${join(folder, name)}: ${reason}`]);
    });
  }

  it('lets two services create plants in one file, each id once', async () => {
    const services = [1, 2].map(() => serve(folder, { DATABASE_URL: 'sqlite:shared.db' }));
    const ports = await Promise.all(services.map((service) => service.port()));
    const plants = Array.from({ length: 100 }, (_, index) => BigInt(index)).flatMap((id) =>
      ports.map((port) => ({ port, id, name: `from ${port}` })),
    );
    const outcomes = await Promise.all(
      plants.map(async ({ port, ...plant }) => ({ plant, outcome: toOutcome(await create(port, plant)) })),
    );
    expect(new Set(outcomes.map(({ outcome }) => outcome))).to.deep.equal(new Set([200, 40901]));
    const created = outcomes.filter(({ outcome }) => outcome === 200).map(({ plant }) => plant);
    expect(await readSqlitePlants(join(folder, 'shared.db'))).to.deep.equal(created);
  });

  it('succeeds for eight services that create one file at the same time', async () => {
    const ids = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n];
    const services = ids.map((id) => ({ id, service: serve(folder, { DATABASE_URL: 'sqlite:raced.db' }) }));
    const outcomes = await Promise.all(
      services.map(async ({ id, service }) => toOutcome(await create(await service.port(), { id, name: 'Monstera' }))),
    );
    expect(outcomes).to.deep.equal(ids.map(() => 200));
  });
});
