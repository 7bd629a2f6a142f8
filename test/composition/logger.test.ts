import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import type { Logger } from 'pino';
import { readConfig } from '../../composition/config.js';
import { createLogger, flush, type LogDestination, openStandardError } from '../../composition/logger.js';
import { toLines } from '../support/client.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The log', () => {
  const path = join(temporaryFolder(), 'log');
  const standardError = Object.getOwnPropertyDescriptor(process, 'stderr') ?? {};
  const replaceStandardError = (value: object) =>
    Object.defineProperty(process, 'stderr', { value, configurable: true });
  let fd: number;
  beforeEach(() => {
    fd = openSync(path, 'w');
    replaceStandardError({ fd });
  });
  afterEach(() => {
    Object.defineProperty(process, 'stderr', standardError);
    delete process.env['JOURNAL_STREAM'];
    closeSync(fd);
  });

  /** Writes to a log on standard error, waits until it is flushed, and returns the lines of the file. */
  const write = async (log: (logger: Logger) => void) => {
    const destination = await openStandardError();
    log(createLogger(destination, readConfig({ LOG_LEVEL: 'trace' })));
    await flush(destination);
    return toLines(readFileSync(path, 'utf8'));
  };

  /** Logs 2 MB at once, and returns how many of the 20 lines are dropped. */
  const countDropped = (destination: LogDestination) => {
    let dropped = 0;
    destination.on?.('drop', () => dropped++);
    for (let line = 0; line < 20; line++) destination.write(`${'x'.repeat(100_000)}\n`);
    return dropped;
  };

  it('has JSON lines with the time, the level and a safe description of an error', async () => {
    // The service may inherit it from a parent whose standard error is the journal.
    process.env['JOURNAL_STREAM'] = '1:1';
    const err = Object.assign(new Error('canary'), { sql: 'canary' });
    const [line = ''] = await write((log) => log.trace({ err }, 'no water'));
    expect(line).not.to.include('canary');
    expect(JSON.parse(line)).to.include.keys('time', 'err').and.to.include({ level: 'trace', msg: 'no water' });
  });

  it('has lines for the systemd journal, or for people on a terminal', async () => {
    const { dev, ino } = fstatSync(fd, { bigint: true });
    process.env['JOURNAL_STREAM'] = `${dev}:${ino}`;
    const [inJournal] = await write((log) => log.warn('no water'));
    replaceStandardError({ fd, isTTY: true });
    const [, onTerminal] = await write((log) => log.info('planted'));
    expect(inJournal).to.match(/^<4>\{"level":"warn",/);
    expect(onTerminal).to.match(/^.{0,5}\[\d\d:\d\d:\d\d\.\d{3}\].*INFO.*planted/);
  });

  it('is written when it is flushed, also lines that were logged during a write', async () => {
    const lines = await write((log) => {
      for (let line = 0; line < 100; line++) log.info('line');
      log.fatal('last');
    });
    expect(lines).to.have.lengthOf(101);
    expect(lines.at(-1)).to.include('"last"');
  });

  it('drops lines, and reports each, if more than a mebibyte waits to be written', async () => {
    const destination = await openStandardError();
    const dropped = countDropped(destination);
    expect(dropped).to.be.within(8, 12);
    await flush(destination);
    expect(toLines(readFileSync(path, 'utf8'))).to.have.lengthOf(20 - dropped);
  });

  it('goes to a stream that replaces standard error; a flush waits for it; it drops lines if that is stuck', async () => {
    let printed = '';
    const print = (chunk: Buffer, _: string, done: () => void) => {
      if (printed === '') setImmediate(done);
      printed += chunk;
    };
    const stream = new Writable({ write: print });
    replaceStandardError(stream);
    expect(await write((log) => log.info('planted'))).to.deep.equal([]);
    expect(printed).to.include('planted');
    expect(countDropped(await openStandardError())).to.equal(9);
    // Without a listener, the error would fail the test.
    await new Promise((resolve) => stream.once('close', resolve).destroy(new Error('no reader')));
  });
});
