import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { it } from 'mocha';
import { toLines } from '../../support/client.js';
import { runInProcess } from './in-process.js';

it('token prints a new token for the client, and its entry for the service', async () => {
  const run = async (...name: string[]) => toLines((await runInProcess('.', ['token', ...name])).stdout);
  for (const [name, start] of [
    [[], ''],
    [['ali@garden.example'], 'ali@garden.example='],
  ] as const) {
    const [token = '', , entry] = await run(...name);
    expect(token).to.match(/^[\w-]{32}$/);
    expect(entry).to.equal(`${start}sha256:${createHash('sha256').update(token).digest('hex')}`);
    expect(await run(...name)).not.to.include(token);
  }
});

it('token rejects a name that an entry cannot have', async () => {
  const stderr = 'plant-store: NAME must consist of A-Z a-z 0-9 . _ @ -\n';
  for (const name of ['a=b', 'a b', 'é', ''])
    expect(await runInProcess('.', ['token', name]), name).to.deep.equal({ exitCode: 64, stdout: '', stderr });
});
