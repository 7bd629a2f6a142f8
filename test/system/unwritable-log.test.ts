import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve, toLines } from '../support/client.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';

const REQUESTS = 200;
/** A long path makes long log lines, a few of which fill every buffer. */
const BYTES = Buffer.concat(Array(10).fill(request(`GET /${'x'.repeat(250)}`)));

describe('A standard error that', () => {
  const folder = temporaryFolder();
  /** A FIFO without a writer; reading it waits. */
  const gate = join(folder, 'gate');
  spawnSync('mkfifo', [gate]);
  const start = (redirection: string) =>
    serve(folder, { MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:' }, ['bash', '-c', `exec "$@" ${redirection}`, 'sh']);

  it('is an unread pipe makes the service drop and count lines; the other lines stay intact', async () => {
    const service = start(`2> >(read < ${gate}; exec cat >&2)`);
    let requests = await loadUntilDropped(service);
    writeFileSync(gate, '\n');
    const port = await service.port();
    for (; !service.stderr.includes('"requestId":"late"'); requests++)
      await exchange(port, request('GET /', { 'X-Request-Id': 'late' }));
    const dropped = await countDropped(service);
    expect(await service.stop()).to.equal(0);
    const lines = toLines(service.stderr).map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'request').length + dropped).to.equal(requests);
    expect(lines.at(-1)).to.include({ msg: 'stopped' });
  });

  for (const [title, redirection, isDropping] of [
    ['nothing ever reads affects neither requests nor the shutdown', `2> >(read < ${gate})`, true],
    ['is a full disk affects neither requests nor the shutdown', '2>/dev/full', true],
    ['is closed by its reader affects neither requests nor the shutdown', '2> >(:)', false],
  ] as const) {
    it(title, async () => {
      const service = start(redirection);
      if (isDropping) await loadUntilDropped(service);
      else await sendLoad(await service.port());
      const exited = new Promise((resolve) => service.process.once('exit', resolve));
      service.kill('SIGTERM');
      expect(await exited).to.equal(0);
    });
  }
});

/** Sends requests until lines are dropped, and returns the number of requests. */
async function loadUntilDropped(service: Program): Promise<number> {
  const port = await service.port();
  let requests = 0;
  for (; (await countDropped(service)) === 0; requests += REQUESTS + 1) await sendLoad(port);
  return requests;
}

/** Sends requests on several connections, then a create. */
async function sendLoad(port: number): Promise<void> {
  for (let sent = 0; sent < REQUESTS; sent += 10) {
    const client = (await RawClient.connect(port)).send(BYTES);
    for (let read = 0; read < 10; read++) expect((await client.readResponse())?.status).to.equal(404);
    client.close();
  }
  expect((await create(port, { id: 1n, name: 'Monstera' }))?.outcome).to.be.oneOf([200, 40902]);
}

async function countDropped(service: Program): Promise<number> {
  const metrics = await exchange(await service.managementPort(), request('GET /metrics'));
  return Number(/^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics?.body ?? '')?.[1]);
}
