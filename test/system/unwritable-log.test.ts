import { spawnSync } from 'node:child_process';
import { constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve, toLines } from '../support/client.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const CLIENTS = 20;
/** Number of pipelined requests. */
const REQUESTS_PER_CLIENT = 100;
/** Makes log lines long, so that few of them fill every buffer. */
const LONG_PATH = `/${'x'.repeat(250)}`;
/** Makes the service throw outside of any request on SIGUSR2. */
const THROW_ON_SIGUSR2 = `--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(new(Error)('defect'))})`;

describe('An unwritable standard error', () => {
  const folder = temporaryFolder();
  let pipes = 0;
  const start = async (...wrapper: string[]) => {
    const settings = { MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:', TERM: 'xterm', NODE_OPTIONS: THROW_ON_SIGUSR2 };
    const service = new LoggingService(serve(folder, settings, wrapper));
    expect(await service.countDropped()).to.equal(0);
    return service;
  };
  const startWith = (redirection: string) => start('bash', '-c', `exec "$@" ${redirection}`, 'bash');
  /** Starts a service whose standard error is a pipe that nothing reads until the reader is resumed. */
  const startWithPipe = async () => {
    const path = join(folder, `pipe-${++pipes}`);
    spawnSync('mkfifo', [path]);
    const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const reader = new Socket({ fd, readable: true }).pause();
    return { service: await startWith(`2>${path}`), reader };
  };

  it('makes the service drop and count lines while the pipe is not read, and keep the other lines intact', async () => {
    const { service, reader } = await startWithPipe();
    await service.loadUntilDropped(100);
    const log = collect(reader);
    await service.requestUntil(() => log().includes('"requestId":"late"'));
    const dropped = await service.countDropped();
    expect(await service.program.stop()).to.equal(0);
    await waitUntil('the log has ended', async () => log().endsWith('"stopped"}\n'));
    const lines = toLines(log()).map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.filter(({ msg }) => msg === 'request').length + dropped).to.equal(service.requests);
  });

  it('ends with a complete line at shutdown if the pipe is not read', async () => {
    const { service, reader } = await startWithPipe();
    await service.loadUntilDropped(1);
    expect(await service.program.stop()).to.equal(0);
    const log = collect(reader);
    await waitUntil('the pipe is empty', async () => reader.readableEnded);
    expect(log().at(-1)).to.equal('\n');
    for (const line of toLines(log())) JSON.parse(line);
  });

  for (const [what, redirection] of Object.entries({
    'a full disk': '2>/dev/full',
    'a pipe to an exited process': '2> >(:)',
    'a pipe to a process that does not read': '2> >(exec tail --pid=$$ -f /dev/null >/dev/null 2>&1)',
  })) {
    for (const [ending, signal, exitCode] of [
      ['shutdown', 'SIGTERM', 0],
      ['the exit after an uncaught exception', 'SIGUSR2', 1],
    ] as const) {
      it(`affects neither requests nor ${ending} if it is ${what}`, async () => {
        const service = await startWith(redirection);
        await service.loadUntilDropped(1);
        expect(await service.program.kill(signal).exited()).to.equal(exitCode);
      });
    }
  }

  it('affects no request if it is a stopped terminal, and is written again when the terminal continues', async function () {
    skipUnlessInstalled(this, 'script', '--version');
    // The arguments of the shell are those of the executable.
    const service = await start('sh', '-c', 'exec script -qec "exec $*" /dev/null', 'sh');
    service.program.kill('SIGSTOP');
    await service.loadUntilDropped(1);
    service.program.kill('SIGCONT');
    await service.requestUntil(() => service.program.stdout.includes('"late"'));
    expect(await service.program.type('\x03').exited()).to.equal(0);
  });
});

/** Reads a stream from now on. Returns a function that returns everything read so far. */
function collect(stream: Socket): () => string {
  let text = '';
  stream.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  stream.resume();
  return () => text;
}

/** A running service whose requests cause log lines. */
class LoggingService {
  readonly program: Program;
  /** Number of requests sent. */
  requests = 0;

  constructor(program: Program) {
    this.program = program;
  }

  /** Sends requests with the id `late` until `condition` holds. */
  async requestUntil(condition: () => boolean): Promise<void> {
    const port = await this.program.port();
    for (; !condition(); this.requests++)
      expect(await exchange(port, request('GET /', { 'X-Request-Id': 'late' }))).to.have.property('status');
  }

  /** Sends requests with long log lines until `count` lines are dropped, and expects that the service works. */
  async loadUntilDropped(count: number): Promise<void> {
    const port = await this.program.port();
    const pipelined = Array(REQUESTS_PER_CLIENT - 1).fill(request(`GET ${LONG_PATH}`));
    const bytes = Buffer.concat([...pipelined, request(`GET ${LONG_PATH}`, { Connection: 'close' })]);
    while ((await this.countDropped()) < count) {
      this.requests += CLIENTS * REQUESTS_PER_CLIENT;
      const clients = Array.from({ length: CLIENTS }, async () => {
        const client = await RawClient.connect(port);
        expect(await client.send(bytes).readAllResponses()).to.have.lengthOf(REQUESTS_PER_CLIENT);
      });
      await Promise.all(clients);
    }
    const plant = { id: BigInt(++this.requests), name: 'Monstera' };
    expect((await create(port, plant))?.outcome).to.equal(200);
    expect(await this.#getFromManagement('/healthz')).to.equal('{"status":"ok"}');
  }

  async countDropped(): Promise<number> {
    const metrics = await this.#getFromManagement('/metrics');
    const [, count] = /^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics) ?? [];
    return Number(count);
  }

  async #getFromManagement(path: string): Promise<string> {
    return (await exchange(await this.program.managementPort(), request(`GET ${path}`)))?.body ?? 'no response';
  }
}
