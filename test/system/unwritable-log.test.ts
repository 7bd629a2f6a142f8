import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve, toLines } from '../support/client.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';

const CLIENTS = 20;
/** Number of pipelined requests. */
const REQUESTS_PER_CLIENT = 10;
/** Makes log lines long, so that few of them fill every buffer. */
const LONG_PATH = `/${'x'.repeat(250)}`;
/** Makes the service throw outside of any request on SIGUSR2. */
const THROW_ON_SIGUSR2 = `--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(new(Error)('defect'))})`;
/** The ways in which a service ends, their signals and exit codes. */
const ENDINGS = [
  ['shutdown', 'SIGTERM', 0],
  ['the exit after an uncaught exception', 'SIGUSR2', 1],
] as const;

describe('An unwritable standard error', () => {
  const folder = temporaryFolder();
  let pipes = 0;
  const start = async (...wrapper: string[]) => {
    const settings = { MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:', NODE_OPTIONS: THROW_ON_SIGUSR2 };
    const service = serve(folder, settings, wrapper);
    expect(await countDropped(service)).to.equal(0);
    return service;
  };
  const startWith = (redirection: string) => start('bash', '-c', `exec "$@" ${redirection}`, 'bash');
  /** Starts a service whose standard error is a pipe, which is copied to that of the program after the call of `read`. */
  const startWithPipe = async () => {
    const file = join(folder, `${++pipes}`);
    const service = await startWith(`2> >(until [ -e ${file} ]; do sleep 0.1; done; exec cat >&2)`);
    return { service, read: () => writeFileSync(file, '') };
  };

  it('makes the service drop and count lines while the pipe is not read, and keep the other lines intact', async () => {
    const { service, read } = await startWithPipe();
    let requests = await loadUntilDropped(service, 100);
    read();
    requests += await requestUntil(service, () => service.stderr.includes('"requestId":"late"'));
    const dropped = await countDropped(service);
    expect(await service.stop()).to.equal(0);
    const lines = toLines(service.stderr).map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'request').length + dropped).to.equal(requests);
    expect(lines.at(-1)).to.include({ msg: 'stopped' });
  });

  for (const [ending, signal, exitCode] of ENDINGS) {
    it(`delays ${ending} by a second at most if the pipe is not read`, async () => {
      const { service } = await startWithPipe();
      await loadUntilDropped(service);
      const start = performance.now();
      expect(await once(service.kill(signal).process, 'exit')).to.deep.equal([exitCode, null]);
      // With a tolerance for a busy machine.
      expect(performance.now() - start, 'ms').to.be.below(10_000);
    });

    it(`affects neither requests nor ${ending} if it is a full disk`, async () => {
      const service = await startWith('2>/dev/full');
      await loadUntilDropped(service);
      expect(await service.kill(signal).exited()).to.equal(exitCode);
    });

    it(`affects neither requests nor ${ending} if it is a pipe to an exited process`, async () => {
      const service = await startWith('2> >(:)');
      await sendLoad(await service.port());
      await expectToWork(service);
      expect(await service.kill(signal).exited()).to.equal(exitCode);
    });
  }
});

/** Sends requests with the id `late` until `condition` holds, and returns their number. */
async function requestUntil(service: Program, condition: () => boolean): Promise<number> {
  const port = await service.port();
  let requests = 0;
  for (; !condition(); requests++)
    expect(await exchange(port, request('GET /', { 'X-Request-Id': 'late' }))).to.have.property('status');
  return requests;
}

/** Sends requests until `count` lines are dropped, expects that the service works, and returns the number of requests. */
async function loadUntilDropped(service: Program, count = 1): Promise<number> {
  const port = await service.port();
  let requests = 0;
  while ((await countDropped(service)) < count) requests += await sendLoad(port);
  await expectToWork(service);
  return requests + 1;
}

/** Sends requests on several connections, and returns their number. */
async function sendLoad(port: number): Promise<number> {
  const pipelined = Array(REQUESTS_PER_CLIENT - 1).fill(request(`GET ${LONG_PATH}`));
  const bytes = Buffer.concat([...pipelined, request(`GET ${LONG_PATH}`, { Connection: 'close' })]);
  const clients = Array.from({ length: CLIENTS }, async () => {
    const client = await RawClient.connect(port);
    expect(await client.send(bytes).readAllResponses()).to.have.lengthOf(REQUESTS_PER_CLIENT);
  });
  await Promise.all(clients);
  return CLIENTS * REQUESTS_PER_CLIENT;
}

async function expectToWork(service: Program): Promise<void> {
  expect((await create(await service.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
  expect(await getFromManagement(service, '/healthz')).to.equal('{"status":"ok"}');
}

async function countDropped(service: Program): Promise<number> {
  const metrics = await getFromManagement(service, '/metrics');
  return Number(/^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
}

async function getFromManagement(service: Program, path: string): Promise<string> {
  return (await exchange(await service.managementPort(), request(`GET ${path}`)))?.body ?? 'no response';
}
