import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { plantLines } from '../../support/plants.js';
import { skipUnless } from '../../support/skip-unless.js';
import { runInProcess } from './in-process.js';

/** More than the 64 KiB that a pipe holds. */
const LINES = plantLines(1, 4000);

describe('export', () => {
  const folder = new CommandFolder();
  const database = folder.newDatabase();
  const run = (command: string, environment: Readonly<Record<string, string>>) =>
    runInProcess(folder.path, [command], environment, LINES);
  before(() => run('import', database));

  it('writes every plant, ordered by id', async () => {
    expect(await run('export', database)).to.deep.equal({ exitCode: 0, stdout: LINES, stderr: '' });
  });

  it('reports a full disk at standard output', async function () {
    skipUnless(this, existsSync('/dev/full'), '/dev/full');
    const { exitCode, stderr } = await folder.shell('$PLANT_STORE export > /dev/full', database);
    expect(stderr).to.equal('plant-store: ENOSPC: no space left on device, write\n');
    expect(exitCode).to.equal(1);
  });

  it('succeeds if the reader of standard output closes it early, as head does', async () => {
    const { stderr } = await folder.shell('{ $PLANT_STORE export; echo $? >&2; } | read -r line', database);
    expect(stderr).to.equal('0\n');
  });

  it('exits with 1 if there is no store, and creates none', async () => {
    const missing = folder.newDatabase();
    const { exitCode, stderr } = await run('export', missing);
    expect(stderr).to.match(/^plant-store: there is no store at sqlite:\/.*\.db; check DATABASE_URL\n$/);
    expect(exitCode).to.equal(1);
    expect(existsSync(folder.fileOf(missing))).to.equal(false);
  });

  it('exits with 1 and names the command that helps if the store lacks a migration', async () => {
    const plugin = `export default (container) =>
      container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) =>
        Object.assign(storage, { pending: ['002_sites'] }));`;
    writeFileSync(join(folder.path, 'old.mjs'), plugin);
    const { exitCode, stderr } = await run('export', { DATABASE_URL: 'memory:', PLUGINS: './old.mjs' });
    expect(stderr).to.equal('plant-store: memory lacks 002_sites; run plant-store migrate\n');
    expect(exitCode).to.equal(1);
  });
});
