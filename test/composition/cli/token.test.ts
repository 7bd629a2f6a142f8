import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { it } from 'mocha';
import { toLines } from '../../support/client.js';
import { runInProcess } from './in-process.js';

it('token prints a new token for the client and its digest for the service', async () => {
  const run = async () => toLines((await runInProcess('.', ['token'])).stdout);
  const [token = '', , digest] = await run();
  expect(token).to.match(/^[\w-]{32}$/);
  expect(digest).to.equal(`sha256:${createHash('sha256').update(token).digest('hex')}`);
  expect(await run()).not.to.include(token);
});
