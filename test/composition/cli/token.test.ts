import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toLines } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';

describe('token', () => {
  const folder = new CommandFolder();

  it('prints a new token for the client, and its entry for the service', async () => {
    const run = async (...name: string[]) => toLines((await folder.run(['token', ...name])).stdout);
    for (const name of [[], ['ali@garden.example']]) {
      const [token = '', , entry] = await run(...name);
      expect(token).to.match(/^[\w-]{32}$/);
      const digest = `sha256:${createHash('sha256').update(token).digest('hex')}`;
      expect(entry).to.equal([...name, digest].join('='));
      expect(await run(...name)).not.to.include(token);
    }
  });

  it('rejects a name that an entry cannot have', async () => {
    const stderr = 'plant-store: NAME must consist of A-Z a-z 0-9 . _ @ -\n';
    for (const name of ['a=b', ''])
      expect(await folder.run(['token', name]), name).to.deep.equal({ exitCode: 64, stdout: '', stderr });
  });
});
