import { existsSync, readdirSync } from 'node:fs';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { plantLines } from '../../support/plants.js';
import { skipUnless } from '../../support/skip-unless.js';

/** More than the 64 KiB that a pipe holds. */
const LINES = plantLines(1, 4000);

describe('export', () => {
  const folder = new CommandFolder();
  const database = folder.newDatabase();
  before(() => folder.run(['import'], database, LINES));

  it('writes every plant, ordered by id', async () => {
    expect(await folder.run(['export'], database)).to.deep.equal({ exitCode: 0, stdout: LINES, stderr: '' });
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

  it('exits with 1 and names the next step if there is no store or its schema is old, and changes nothing', async () => {
    const files = readdirSync(folder.path);
    const missing = await folder.run(['export'], folder.newDatabase());
    expect(missing.stderr).to.match(/^plant-store: there is no store at sqlite:\/.*\.db; check DATABASE_URL\n$/);
    expect(readdirSync(folder.path)).to.deep.equal(files);
    const plugin = `export default (container) =>
      container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) =>
        Object.assign(storage, { pending: ['002_sites'] }));`;
    const PLUGINS = `./${folder.newFile(plugin, 'mjs')}`;
    const old = await folder.run(['export'], { DATABASE_URL: 'memory:', PLUGINS });
    expect(old.stderr).to.equal('plant-store: memory lacks 002_sites; run plant-store migrate\n');
    expect([missing.exitCode, old.exitCode]).to.deep.equal([1, 1]);
  });
});
