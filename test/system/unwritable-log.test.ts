import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, TOKEN, toLines, toOutcome } from '../support/client.js';
import { CLI, endProgramsAfterEach, Program } from '../support/executable.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

const CLIENTS = 20;
/** Maximum number of pipelined requests that the service processes per connection. */
const REQUESTS_PER_CLIENT = 100;
/** Maximum time for a shutdown, on a busy machine. */
const MAX_STOP_MS = 10_000;
/** Makes log lines long, so that few of them fill every buffer. */
const LONG_PATH = `/${'x'.repeat(250)}`;
/** Makes the service throw outside of any request on SIGUSR2. */
const THROW_ON_SIGUSR2 = `--import=data:text/javascript,process.on('SIGUSR2',()=>{throw(new(Error)('defect'))})`;
const SETTINGS = {
  NODE: process.execPath,
  CLI,
  PORT: '0',
  MANAGEMENT_PORT: '0',
  DATABASE_URL: 'memory:',
  ACCESS_TOKENS: TOKEN,
};

describe('An unwritable standard error', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let pipes = 0;
  const newPipe = () => new Pipe(join(folder, `pipe-${++pipes}`));

  /** Starts the service with a shell redirection such as `2>/dev/full`. */
  async function start(redirection: string, environment: Readonly<Record<string, string>> = {}): Promise<Service> {
    const program = new Program(folder, ['bash', '-c', `exec "$NODE" "$CLI" ${redirection}`], {
      ...SETTINGS,
      ...environment,
    });
    return Service.waitFor(program);
  }

  it('makes the service drop and count lines while the pipe is not read, and keep the other lines intact', async () => {
    const pipe = newPipe();
    const service = await start(`2>${pipe.path}`);
    while ((await service.countDroppedLines()) < 100) await service.load();
    await service.expectToWork();

    let log = '';
    for (let times = 0; !log.includes('"requestId":"late-'); times++) {
      await service.request(request('GET /', { 'X-Request-Id': `late-${times}` }));
      log += pipe.read();
    }
    const dropped = await service.countDroppedLines();
    expect(await service.stop()).to.equal(0);
    const lines = toLines(log + pipe.read()).map((line): Record<string, unknown> => JSON.parse(line));
    expect(lines.at(-1)).to.include({ msg: 'stopped' });
    expect(lines.filter(({ msg }) => msg === 'request').length + dropped).to.equal(service.requests);
  });

  it('ends with a complete line on SIGTERM, without waiting for a reader, if the pipe is not read', async () => {
    const pipe = newPipe();
    const service = await start(`2>${pipe.path}`);
    await service.load();
    let log = pipe.read();
    // The service refills the pipe from its buffer.
    for (const { length } = log; log.length === length; await new Promise(setImmediate)) log += pipe.read();
    const startedAt = performance.now();
    expect(await service.stop()).to.equal(0);
    expect(performance.now() - startedAt, 'ms').to.be.below(MAX_STOP_MS);
    log += pipe.read();
    expect(log.at(-1)).to.equal('\n');
    for (const line of toLines(log)) JSON.parse(line);
  });

  it('is written again once the pipe has a reader again', async () => {
    const pipe = newPipe();
    const service = await start(`2>${pipe.path}`);
    pipe.close();
    while ((await service.countDroppedLines()) === 0) await service.load();
    await service.expectToWork();
    pipe.open();
    let log = '';
    while (!log.includes('"requestId":"late"')) {
      await service.request(request('GET /', { 'X-Request-Id': 'late' }));
      log += pipe.read();
    }
    for (const line of toLines(log)) JSON.parse(line);
    expect(await service.stop()).to.equal(0);
  });

  for (const [what, redirection] of Object.entries({
    'a full disk': '2>/dev/full',
    'a pipe to an exited process': '2> >(:)',
    'a pipe to a process that does not read': '2> >(exec tail --pid=$$ -f /dev/null >/dev/null 2>&1)',
  })) {
    it(`does not affect the service if it is ${what}`, async () => {
      const service = await start(redirection);
      while ((await service.countDroppedLines()) === 0) await service.load();
      await service.expectToWork();
      expect(await service.stop()).to.equal(0);
    });

    it(`does not delay the exit after an uncaught exception if it is ${what}`, async () => {
      const service = await start(redirection, { NODE_OPTIONS: THROW_ON_SIGUSR2 });
      await service.load();
      expect(await service.program.kill('SIGUSR2').exited()).to.equal(1);
    });
  }

  describe('on a stopped terminal', () => {
    before(function () {
      skipUnlessInstalled(this, 'script', '--version');
    });

    it('does not affect the service, and is written again when the terminal continues', async () => {
      const command: [string, ...string[]] = ['script', '-qec', 'exec "$NODE" "$CLI"', '/dev/null'];
      const terminal = new Program(folder, command, { ...SETTINGS, TERM: 'xterm' });
      const service = await Service.waitFor(terminal);
      terminal.kill('SIGSTOP');
      while ((await service.countDroppedLines()) === 0) await service.load();
      await service.expectToWork();
      terminal.kill('SIGCONT');
      let isWritten = false;
      terminal.waitForOutput(/"late"/).then(() => {
        isWritten = true;
      });
      while (!isWritten) await service.request(request('GET /', { 'X-Request-Id': 'late' }));
      expect(await terminal.type('\x03').exited()).to.equal(0);
    });
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

/** A running service, with its public and its management listener. */
class Service {
  readonly program: Program;
  readonly #port: number;
  readonly #managementPort: number;
  #nextId = 1n;
  /** Number of requests sent. */
  requests = 0;

  private constructor(program: Program, port: number, managementPort: number) {
    this.program = program;
    this.#port = port;
    this.#managementPort = managementPort;
  }

  static async waitFor(program: Program): Promise<Service> {
    const port = await program.port();
    return new Service(program, port, await program.managementPort());
  }

  /** Sends one request. */
  async request(bytes: Buffer): Promise<void> {
    this.requests++;
    expect(await exchange(this.#port, bytes)).to.have.property('status');
  }

  /** Sends requests whose log lines are long. */
  async load(): Promise<void> {
    this.requests += CLIENTS * REQUESTS_PER_CLIENT;
    const bytes = Buffer.concat(Array(REQUESTS_PER_CLIENT).fill(request(`GET ${LONG_PATH}`)));
    const clients = Array.from({ length: CLIENTS }, async () => {
      const client = await RawClient.connect(this.#port, { isRecorded: false });
      expect(await client.send(bytes).readAllResponses()).to.have.lengthOf(REQUESTS_PER_CLIENT);
    });
    await Promise.all(clients);
  }

  /** Expects creates and `/healthz` to succeed. */
  async expectToWork(): Promise<void> {
    this.requests++;
    expect(toOutcome(await create(this.#port, { id: this.#nextId++, name: 'Monstera' }))).to.equal(200);
    expect(await this.#getFromManagement('/healthz')).to.equal('{"status":"ok"}');
  }

  async countDroppedLines(): Promise<number> {
    const metrics = await this.#getFromManagement('/metrics');
    const count = /^plant_store_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1];
    if (count === undefined) throw new Error(`the metric is missing in ${metrics}`);
    return Number(count);
  }

  async #getFromManagement(path: string): Promise<string> {
    return (await exchange(this.#managementPort, request(`GET ${path}`)))?.body ?? 'no response';
  }

  /** Shuts the service down and returns the exit code. */
  async stop(): Promise<number | NodeJS.Signals> {
    return this.program.kill('SIGTERM').exited();
  }
}
