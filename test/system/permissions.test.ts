import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
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
  before(function () {
    if (UNPRIVILEGED.length > 0) skipUnlessInstalled(this, 'setpriv', '--version');
    mkdirSync(data);
    writeFileSync(join(data, 'plants.db'), '');
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

  for (const [denied, mode, file, args, action] of [
    ['a folder for a new store', 0o500, 'new.db', ['serve'], `create files in ${data}`],
    ['a folder for the write-ahead log', 0o500, 'plants.db', ['serve'], `create files in ${data}`],
    ['a folder to migrate a new store in', 0o500, 'new.db', ['migrate', '--dry-run'], `create files in ${data}`],
    ['a folder that may not be entered', 0o600, 'plants.db', ['serve'], `enter ${data}`],
    ['a folder that may not be entered to read', 0o600, 'plants.db', ['export'], `enter ${data}`],
    ['a file that is read-only, to serve', 0o400, 'data/plants.db', ['serve'], `write ${join(data, 'plants.db')}`],
    ['a file that is read-only, to check it', 0o400, 'data/plants.db', ['check'], `write ${join(data, 'plants.db')}`],
    ['a file that is unreadable', 0o000, 'data/plants.db', ['export'], `read ${join(data, 'plants.db')}`],
  ] as const) {
    it(denied, async () => {
      chmodSync(file.includes('/') ? join(folder, file) : data, mode);
      const path = file.includes('/') ? join(folder, file) : join(data, file);
      const run = plantStore(folder, args, { DATABASE_URL: `sqlite:${path}`, PORT: '0' }, UNPRIVILEGED);
      const reason = `permission denied: user ${process.getuid?.()} may not ${action}; change its owner or permissions`;
      const { exitCode, stderr } = await run.result();
      expect(exitCode).to.equal(1);
      expect(stderr).to.equal(`plant-store: cannot open sqlite:${path}: ${reason}\n`);
    });
  }
});
