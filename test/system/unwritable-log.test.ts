import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { RawClient, request, serve } from '../support/client.js';
import { temporaryFolder } from '../support/temporary.js';

/** Their log lines, of 400 bytes at least, fill a pipe and the memory for lines that wait, which is one mebibyte. */
const REQUESTS = 3000;
const TEN_REQUESTS = Buffer.concat(Array(10).fill(request(`GET /${'x'.repeat(250)}`)));

describe('Neither requests nor the shutdown are affected by a standard error that', () => {
  const folder = temporaryFolder();
  /** A FIFO without a writer; reading it waits. */
  const gate = join(folder, 'gate');
  spawnSync('mkfifo', [gate]);

  for (const [title, redirection] of [
    ['is a pipe that nothing ever reads', `2> >(read < ${gate})`],
    ['is a full disk', '2>/dev/full'],
    ['is closed by its reader', '2> >(:)'],
  ] as const) {
    it(title, async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:' }, ['bash', '-c', `exec "$@" ${redirection}`, 'sh']);
      const client = await RawClient.connect(await service.port());
      for (let sent = 0; sent < REQUESTS; sent += 10) {
        client.send(TEN_REQUESTS);
        for (let read = 0; read < 10; read++) expect((await client.readResponse())?.status).to.equal(404);
      }
      const exited = new Promise((resolve) => service.process.once('exit', resolve));
      service.kill('SIGTERM');
      expect(await exited).to.equal(0);
    });
  }
});
