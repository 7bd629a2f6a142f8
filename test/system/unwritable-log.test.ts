import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve, toLines } from '../support/client.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';

/** A long path makes long log lines, a few of which fill every buffer. */
const TEN_REQUESTS = Buffer.concat(Array(10).fill(request(`GET /${'x'.repeat(250)}`)));

describe('A standard error that', () => {
  const folder = temporaryFolder();
  /** A FIFO without a writer; reading it waits. */
  const gate = join(folder, 'gate');
  spawnSync('mkfifo', [gate]);
  const start = (redirection: string) =>
    serve(folder, { MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:' }, ['bash', '-c', `exec "$@" ${redirection}`, 'sh']);

  it('is an unread pipe makes the service drop and count lines; the other lines stay intact', async () => {
    const service = start(`2> >(read < ${gate}; exec cat >&2)`);
    let requests = 0;
    while ((await countDropped(service)) === 0) requests += await sendRequests(service);
    writeFileSync(gate, '\n');
    for (; !service.stderr.includes('"requestId":"late"'); requests++)
      await exchange(await service.port(), request('GET /', { 'X-Request-Id': 'late' }));
    const dropped = await countDropped(service);
    expect(await service.stop()).to.equal(0);
    const messages = toLines(service.stderr).map((line) => JSON.parse(line).msg);
    expect(messages.filter((message) => message === 'request').length + dropped).to.equal(requests);
    expect(messages.at(-1)).to.equal('stopped');
  });

  for (const [title, redirection, isDropping] of [
    ['nothing ever reads affects neither requests nor the shutdown', `2> >(read < ${gate})`, true],
    ['is a full disk affects neither requests nor the shutdown', '2>/dev/full', true],
    ['is closed by its reader affects neither requests nor the shutdown', '2> >(:)', false],
  ] as const) {
    it(title, async () => {
      const service = start(redirection);
      await sendRequests(service);
      while (isDropping && (await countDropped(service)) === 0) await sendRequests(service);
      const exited = new Promise((resolve) => service.process.once('exit', resolve));
      service.kill('SIGTERM');
      expect(await exited).to.equal(0);
    });
  }
});

/** Sends requests, each of which gets its response, and returns their number. */
async function sendRequests(service: Program): Promise<number> {
  const client = await RawClient.connect(await service.port());
  for (let sent = 0; sent < 200; sent += 10) {
    client.send(TEN_REQUESTS);
    for (let read = 0; read < 10; read++) expect((await client.readResponse())?.status).to.equal(404);
  }
  client.close();
  return 200;
}

async function countDropped(service: Program): Promise<number> {
  const metrics = await exchange(await service.managementPort(), request('GET /metrics'));
  return Number(/^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics?.body ?? '')?.[1]);
}
