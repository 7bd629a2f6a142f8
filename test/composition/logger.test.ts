import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { createLogger, flush, openStandardError } from '../../composition/logger.js';
import { toLines } from '../support/client.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

describe('The log', () => {
  const path = join(temporaryFolder(), 'log');
  const standardError = Object.getOwnPropertyDescriptor(process, 'stderr') ?? {};
  let fd: number;
  beforeEach(() => {
    fd = openSync(path, 'w');
    Object.defineProperty(process, 'stderr', { value: { fd, isTTY: false }, configurable: true });
  });
  afterEach(() => {
    Object.defineProperty(process, 'stderr', standardError);
    delete process.env['JOURNAL_STREAM'];
    closeSync(fd);
  });

  const open = async () => {
    const destination = await openStandardError();
    return { destination, log: createLogger(destination, readConfig({ LOG_LEVEL: 'trace' })) };
  };
  const readLines = () => readFileSync(path, 'utf8').trimEnd().split('\n');

  it('has JSON lines with the time, the level and a safe description of an error', async () => {
    const { destination, log } = await open();
    log.warn({ err: Object.assign(new Error('canary'), { sql: 'canary' }) }, 'no water');
    await flush(destination);
    const [line = ''] = readLines();
    expect(line).not.to.include('canary');
    expect(JSON.parse(line)).to.include.keys('time', 'err').and.to.include({ level: 'warn', msg: 'no water' });
  });

  it('starts a line for the systemd journal with the priority of its level', async () => {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    process.env['JOURNAL_STREAM'] = `${dev}:${ino}`;
    const { destination, log } = await open();
    log.warn('no water');
    await flush(destination);
    expect(readLines()[0]).to.match(/^<4>\{"level":"warn",/);
  });

  it('is human-readable on a terminal', async () => {
    Object.assign(process.stderr, { isTTY: true });
    const { destination, log } = await open();
    log.info({ name: 'Monstera' }, 'planted');
    await flush(destination);
    expect(readLines()[0]).to.match(/^.{0,5}\[\d\d:\d\d:\d\d\.\d{3}\].*INFO.*planted/);
  });

  it('is written when it is flushed, also lines that were logged during a write', async () => {
    const { destination, log } = await open();
    for (let line = 0; line < 100; line++) log.info('line');
    log.fatal('last');
    await flush(destination);
    const lines = readLines();
    expect(lines).to.have.lengthOf(101);
    expect(lines.at(-1)).to.include('"last"');
  });

  it('drops lines, and reports each, if more than a mebibyte waits to be written', async () => {
    const destination = await openStandardError();
    let dropped = 0;
    destination.on?.('drop', () => dropped++);
    const log = createLogger(destination, readConfig({}));
    for (let line = 0; line < 20; line++) log.info('x'.repeat(100_000));
    expect(dropped).to.be.within(8, 12);
    await waitUntil('the other lines', async () => readLines().length === 20 - dropped);
  });

  it('goes to the standard error of a worker thread, and not to the standard output of the process', async () => {
    const module = pathToFileURL(inRepository('dist/composition/logger.js'));
    const code = `
      import { createLogger, flush, openStandardError } from '${module}';
      process.env.JOURNAL_STREAM = '1:1';
      const destination = await openStandardError();
      for (let line = 0; line < 100; line++) createLogger(destination, { logLevel: 'info' }).info('planted');
      await flush(destination);
      process.exit();`;
    const url = `data:text/javascript,${encodeURIComponent(code)}`;
    const program = `new (require('node:worker_threads').Worker)(new URL(${JSON.stringify(url)}))`;
    const { stdout, stderr } = await new Program('.', [process.execPath, '-e', program]).result();
    const messages = toLines(stderr).map((line) => JSON.parse(line).msg);
    expect([stdout, messages]).to.deep.equal(['', Array(100).fill('planted')]);
  });

  it('goes to a function that replaces process.stderr.write, and a flush waits for it', async () => {
    const lines: string[] = [];
    const write = (line: string, done: () => void) =>
      setImmediate(() => {
        lines.push(line);
        done();
      });
    Object.assign(process.stderr, { write });
    const { destination, log } = await open();
    log.info('planted');
    await flush(destination);
    expect([lines.length, readFileSync(path, 'utf8')]).to.deep.equal([1, '']);
  });

  it('ignores that a function which replaces process.stderr.write throws', async () => {
    const write = () => {
      throw new Error('no paper');
    };
    Object.assign(process.stderr, { write });
    const { destination, log } = await open();
    log.info('planted');
    await flush(destination);
  });

  it('drops lines if a stream does not write them, and survives its error', async () => {
    const stream = new Writable({ write() {} });
    Object.defineProperty(process, 'stderr', { value: stream });
    const destination = await openStandardError();
    let dropped = 0;
    destination.on?.('drop', () => dropped++);
    for (let line = 0; line < 20; line++) destination.write('x'.repeat(100_000));
    expect(dropped).to.equal(9);
    // Without a listener, the error would fail the test.
    await new Promise((resolve) => stream.once('close', resolve).destroy(new Error('no reader')));
  });
});
