import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { describe, it } from 'mocha';

/** Runs code with a logger on standard error, which it returns. */
async function runWithLogger(code: string): Promise<string> {
  const program = `
    import { fstatSync } from 'node:fs';
    const { createLogger, flush, openStandardError } = await import('${import.meta.resolve('../../composition/logger.js')}');
    const { dev, ino } = fstatSync(2, { bigint: true });
    ${code}`;
  const { stderr } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', program]);
  return stderr;
}

describe('The log', () => {
  it('starts a line for the systemd journal with the priority of its level', async () => {
    const stderr = await runWithLogger(`
      process.env.JOURNAL_STREAM = dev + ':' + ino;
      const destination = await openStandardError();
      const log = createLogger(destination, { logLevel: 'trace' });
      for (const level of ['trace', 'debug', 'info', 'warn', 'error', 'fatal']) log[level]('');
      await flush(destination);`);
    const priorities = [...stderr.matchAll(/^<(\d)>\{"level":"(\w+)"/gm)].map(([, number, level]) => [level, number]);
    expect(Object.fromEntries(priorities)).to.deep.equal({
      ...{ trace: '7', debug: '7', info: '6', warn: '4', error: '3', fatal: '2' },
    });
  });

  it('is written before the process ends, also lines that were logged during a write', async () => {
    const stderr = await runWithLogger(`
      const destination = await openStandardError();
      const log = createLogger(destination, { logLevel: 'info' });
      for (let line = 0; line < 100; line++) log.info('line');
      log.fatal('last');
      await flush(destination);
      process.exit();`);
    expect(stderr.split('\n').length).to.equal(102);
    expect(stderr).to.match(/"last"}\n$/);
  });
});
