import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, before, describe, it } from 'mocha';
import { plantStore } from '../support/executable.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

/** Permissions do not restrict root until it gives up its capabilities. */
const UNPRIVILEGED = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all', '--inh-caps=-all'] : [];

describe('A command that is denied access names the user, and the file or folder that denies it:', () => {
  const folder = temporaryFolder();
  const data = join(folder, 'data');
  before(async function () {
    if (UNPRIVILEGED.length > 0) skipUnlessInstalled(this, 'setpriv', '--version');
    mkdirSync(data);
    await plantStore(data, ['migrate']).result();
  });
  afterEach(() => {
    chmodSync(data, 0o700);
    chmodSync(join(data, 'plants.db'), 0o600);
  });

  it('a file of tokens', async () => {
    chmodSync(join(data, 'plants.db'), 0);
    const tokens = { ACCESS_TOKENS_FILE: 'data/plants.db', DATABASE_URL: 'memory:' };
    const { exitCode, stderr } = await plantStore(folder, ['check'], tokens, UNPRIVILEGED).result();
    expect(exitCode).to.equal(78);
    expect(stderr).to.match(RegExp(`the file cannot be read by user ${process.getuid?.()} \\(EACCES\\)\n$`));
  });

  for (const [what, denied, mode, file, args, action] of [
    ['a folder for a new store', 'data', 0o500, 'data/new.db', ['serve'], `create files in ${data}`],
    ['a folder for the write-ahead log', 'data', 0o500, 'data/plants.db', ['serve'], `create files in ${data}`],
    ['a folder to migrate in', 'data', 0o500, 'data/new.db', ['migrate', '--dry-run'], `create files in ${data}`],
    ['a folder that may not be entered', 'data', 0o600, 'data/a/plants.db', ['serve'], `enter ${data}`],
    ['a folder that may not be entered to read', 'data', 0o600, 'data/plants.db', ['export'], `enter ${data}`],
    ['a read-only file, to serve', 'data/plants.db', 0o400, 'data/plants.db', ['serve'], `write ${data}/plants.db`],
    ['a read-only file, to check it', 'data/plants.db', 0o400, 'data/plants.db', ['check'], `write ${data}/plants.db`],
    ['an unreadable file', 'data/plants.db', 0o000, 'data/plants.db', ['export'], `read ${data}/plants.db`],
  ] as const) {
    it(what, async () => {
      chmodSync(join(folder, denied), mode);
      const path = join(folder, file);
      const run = plantStore(folder, args, { DATABASE_URL: `sqlite:${path}`, PORT: '0' }, UNPRIVILEGED);
      const reason = `permission denied: user ${process.getuid?.()} may not ${action}; change its owner or permissions`;
      const { exitCode, stderr } = await run.result();
      expect(exitCode).to.equal(1);
      expect(stderr).to.equal(`plant-store: cannot open sqlite:${path}: ${reason}\n`);
    });
  }

  it('an export needs no right to write', async () => {
    const file = join(data, 'plants.db');
    for (const path of [data, file]) {
      chmodSync(path, 0o500);
      const run = plantStore(folder, ['export'], { DATABASE_URL: `sqlite:${file}` }, UNPRIVILEGED);
      expect(await run.result()).to.deep.equal({ exitCode: 0, stdout: '', stderr: '' });
    }
  });
});
