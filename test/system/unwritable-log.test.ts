import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve, toLines } from '../support/client.js';
import type { Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

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
  const newPipe = () => new Pipe(join(folder, `pipe-${++pipes}`));
  const start = (...wrapper: string[]) => {
    const settings = { MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:', TERM: 'xterm', NODE_OPTIONS: THROW_ON_SIGUSR2 };
    return LoggingService.waitFor(serve(folder, settings, wrapper));
  };
  const startWith = (redirection: string) => start('bash', '-c', `exec "$@" ${redirection}`, 'bash');

  it('makes the service drop and count lines while the pipe is not read, and keep the other lines intact', async () => {
    const pipe = newPipe();
    const service = await startWith(`2>${pipe.path}`);
    await service.loadUntilDropped(100);
    let log = '';
    for (let times = 0; !log.includes('"requestId":"late-'); times++) {
      await service.request(`late-${times}`);
      log += pipe.read();
    }
    const dropped = await service.countDropped();
    expect(await service.program.stop()).to.equal(0);
    const lines = toLines(log + pipe.read()).map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.at(-1)).to.include({ msg: 'stopped' });
    expect(lines.filter(({ msg }) => msg === 'request').length + dropped).to.equal(service.requests);
  });

  it('ends with a complete line at shutdown if the pipe is not read', async () => {
    const pipe = newPipe();
    const service = await startWith(`2>${pipe.path}`);
    await service.load();
    let log = pipe.read();
    // The service refills the pipe from its buffer.
    for (const { length } = log; log.length === length; await new Promise(setImmediate)) log += pipe.read();
    expect(await service.program.stop()).to.equal(0);
    log += pipe.read();
    expect(log.at(-1)).to.equal('\n');
    for (const line of toLines(log)) JSON.parse(line);
  });

  it('is written again once the pipe has a reader again', async () => {
    const pipe = newPipe();
    const service = await startWith(`2>${pipe.path}`);
    pipe.close();
    await service.loadUntilDropped(1);
    pipe.open();
    let log = '';
    while (!log.includes('"requestId":"late"')) {
      await service.request('late');
      log += pipe.read();
    }
    for (const line of toLines(log)) JSON.parse(line);
    expect(await service.program.stop()).to.equal(0);
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
    let isWritten = false;
    service.program.waitForOutput(/"late"/).then(() => {
      isWritten = true;
    });
    while (!isWritten) await service.request('late');
    expect(await service.program.type('\x03').exited()).to.equal(0);
  });
});

/** A named pipe and its reader. */
class Pipe {
  readonly path: string;
  #reader: number;

  constructor(path: string) {
    this.path = path;
    spawnSync('mkfifo', [path]);
    this.#reader = this.#openReader();
  }

  /** Reads everything that the pipe contains now. */
  read(): string {
    const chunk = Buffer.alloc(1024 * 1024);
    let text = '';
    for (;;) {
      try {
        const bytes = readSync(this.#reader, chunk);
        if (bytes === 0) return text;
        text += chunk.toString('latin1', 0, bytes);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return text;
        throw error;
      }
    }
  }

  close(): void {
    closeSync(this.#reader);
  }

  open(): void {
    this.#reader = this.#openReader();
  }

  #openReader(): number {
    return openSync(this.path, constants.O_RDONLY | constants.O_NONBLOCK);
  }
}

/** A running service whose requests cause log lines. */
class LoggingService {
  readonly program: Program;
  readonly #port: number;
  readonly #managementPort: number;
  /** Number of requests sent. */
  requests = 0;

  private constructor(program: Program, port: number, managementPort: number) {
    this.program = program;
    this.#port = port;
    this.#managementPort = managementPort;
  }

  static async waitFor(program: Program): Promise<LoggingService> {
    return new LoggingService(program, await program.port(), await program.managementPort());
  }

  /** Sends one request. */
  async request(id: string): Promise<void> {
    this.requests++;
    expect(await exchange(this.#port, request('GET /', { 'X-Request-Id': id }))).to.have.property('status');
  }

  /** Sends requests whose log lines are long. */
  async load(): Promise<void> {
    this.requests += CLIENTS * REQUESTS_PER_CLIENT;
    const pipelined = Array(REQUESTS_PER_CLIENT - 1).fill(request(`GET ${LONG_PATH}`));
    const bytes = Buffer.concat([...pipelined, request(`GET ${LONG_PATH}`, { Connection: 'close' })]);
    const clients = Array.from({ length: CLIENTS }, async () => {
      const client = await RawClient.connect(this.#port, { isRecorded: false });
      expect(await client.send(bytes).readAllResponses()).to.have.lengthOf(REQUESTS_PER_CLIENT);
    });
    await Promise.all(clients);
  }

  /** Sends requests until `count` lines are dropped, and expects that the service works. */
  async loadUntilDropped(count: number): Promise<void> {
    while ((await this.countDropped()) < count) await this.load();
    const plant = { id: BigInt(++this.requests), name: 'Monstera' };
    expect((await create(this.#port, plant))?.outcome).to.equal(200);
    expect(await this.#getFromManagement('/healthz')).to.equal('{"status":"ok"}');
  }

  async countDropped(): Promise<number> {
    const metrics = await this.#getFromManagement('/metrics');
    const count = /^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1];
    if (count === undefined) throw new Error(`the metric is missing in ${metrics}`);
    return Number(count);
  }

  async #getFromManagement(path: string): Promise<string> {
    return (await exchange(this.#managementPort, request(`GET ${path}`)))?.body ?? 'no response';
  }
}
