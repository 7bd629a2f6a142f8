import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { skipUnless } from '../../support/skip-unless.js';

describe('Standard output', () => {
  const folder = new CommandFolder();
  const memory = { DATABASE_URL: 'memory:' };

  it('on a full disk makes a command exit with 1', async function () {
    skipUnless(this, existsSync('/dev/full'), '/dev/full');
    const { exitCode, stderr } = await folder.shell('$PLANT_STORE token > /dev/full', {});
    expect(stderr).to.equal('plant-store: ENOSPC: no space left on device, write\n');
    expect(exitCode).to.equal(1);
  });

  it('may be closed by its reader before a command ends', async () => {
    // More than the 64 KiB that a pipe holds.
    const lines = folder.newFile('no JSON\n'.repeat(2000));
    const { stderr } = await folder.shell(`$PLANT_STORE import ${lines} | head -c 1`, memory);
    expect(stderr).to.equal('0 plants created, 0 already stored, 2000 lines rejected\n');
  });
});
