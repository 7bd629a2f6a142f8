import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve, toLines } from '../support/client.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';

const CLIENTS = 20;
const REQUESTS_PER_CLIENT = 10;
/** A long path makes long log lines, a few of which fill every buffer. */
const REQUEST = request(`GET /${'x'.repeat(250)}`);

describe('A standard error that', () => {
  const folder = temporaryFolder();
  const start = (redirection: string) =>
    serve(folder, { MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:' }, ['bash', '-c', `exec "$@" ${redirection}`, 'sh']);

  it('is an unread pipe makes the service drop and count lines; the other lines stay intact', async () => {
    const file = join(folder, 'read');
    const service = start(`2> >(until [ -e ${file} ]; do sleep 0.1; done; exec cat >&2)`);
    let requests = await loadUntilDropped(service);
    writeFileSync(file, '');
    const port = await service.port();
    for (; !service.stderr.includes('"requestId":"late"'); requests++)
      await exchange(port, request('GET /', { 'X-Request-Id': 'late' }));
    const dropped = await countDropped(service);
    expect(await service.stop()).to.equal(0);
    const lines = toLines(service.stderr).map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'request').length + dropped).to.equal(requests);
    expect(lines.at(-1)).to.include({ msg: 'stopped' });
  });

  for (const [what, redirection] of [
    ['nothing ever reads', '2> >(exec sleep 60)'],
    ['is a full disk', '2>/dev/full'],
  ] as const) {
    it(`${what} affects neither requests nor the shutdown`, async () => {
      const service = start(redirection);
      await loadUntilDropped(service);
      const exited = new Promise((resolve) => service.process.once('exit', resolve));
      service.kill('SIGTERM');
      expect(await exited).to.equal(0);
    });
  }

  it('is closed by its reader affects neither requests nor the shutdown', async () => {
    const service = start('2> >(:)');
    await sendLoad(await service.port());
    await expectToWork(service);
    expect(await service.stop()).to.equal(0);
  });
});

/** Sends requests until lines are dropped, expects that the service works, and returns the number of requests. */
async function loadUntilDropped(service: Program): Promise<number> {
  const port = await service.port();
  let requests = 0;
  for (; (await countDropped(service)) === 0; requests += CLIENTS * REQUESTS_PER_CLIENT) await sendLoad(port);
  await expectToWork(service);
  return requests + 1;
}

/** Sends requests on several connections. */
async function sendLoad(port: number): Promise<void> {
  const clients = Array.from({ length: CLIENTS }, async () => {
    const client = await RawClient.connect(port);
    client.send(Buffer.concat(Array(REQUESTS_PER_CLIENT).fill(REQUEST)));
    for (let read = 0; read < REQUESTS_PER_CLIENT; read++) expect((await client.readResponse())?.status).to.equal(404);
    client.close();
  });
  await Promise.all(clients);
}

async function expectToWork(service: Program): Promise<void> {
  expect((await create(await service.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
}

async function countDropped(service: Program): Promise<number> {
  const metrics = await exchange(await service.managementPort(), request('GET /metrics'));
  return Number(/^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics?.body ?? '')?.[1]);
}
