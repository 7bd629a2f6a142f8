import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { describeError } from '../../../../adapters/driven/logging/index.js';
import { PlantRejected, StorageUnavailable } from '../../../../core/index.js';
import { catchError } from '../../../support/catch-error.js';

/** A value sent by a client, which must not be logged. */
const CANARY = 'canary-4711';

describe('The log', () => {
  /** Starts a process that logs lines of 1 kB in one turn of the event loop and exits at once. */
  const logLines = (count: number) => {
    const program = `
      import { writeSync } from 'node:fs';
      import { createLogger } from ${JSON.stringify(new URL('../../../../adapters/driven/logging/index.js', import.meta.url).href)};
      const log = await createLogger('info');
      for (let line = 0; line < ${count}; line++) log.info({ line, text: 'x'.repeat(1000) }, 'line');
      log.fatal('end');
      writeSync(process.stdout.fd, 'exit');
      process.exit();`;
    return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'pipe'] });
  };

  it('writes up to 1 MiB of lines in order, although the reader starts when the process exits', async () => {
    const child = logLines(900);
    await once(child.stdout, 'data');
    const lines: string[] = [];
    for await (const line of createInterface(child.stderr)) lines.push(line);
    expect(lines.map((line) => JSON.parse(line).line)).to.deep.equal([...Array(900).keys(), undefined]);
    const { time, level } = JSON.parse(lines[0] ?? '');
    expect(level).to.equal('info');
    expect(time).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('delays an exit by 1 s at most if standard error is not read', async () => {
    const child = logLines(5000);
    await once(child.stdout, 'data');
    const start = performance.now();
    expect(await once(child, 'exit')).to.deep.equal([0, null]);
    // With a tolerance for a busy machine.
    expect(performance.now() - start, 'ms').to.be.below(10_000);
    child.stderr.destroy();
  });
});

describe('describeError', () => {
  const parseError = () => catchError((async () => JSON.parse(CANARY))());
  /** Returns an error as Knex throws it: with the SQL in its message. */
  const knexError = () =>
    Object.assign(new Error(`insert into plants values ('${CANARY}')`), { code: 'SQLITE_ERROR', sql: CANARY });

  it('includes the class, the code, a safe message, every cause and its stack frames', async () => {
    const middle = new Error('from a plugin', { cause: await parseError() });
    const description = describeError(new PlantRejected('rejected', { cause: middle }));
    expect(description).to.include({ type: 'PlantRejected', code: 'PLANT_REJECTED', message: 'rejected' });
    expect(description).to.deep.nested.include({ 'cause.type': 'Error', 'cause.message': 'from a plugin' });
    expect(description).to.have.nested.property('cause.cause.type', 'SyntaxError');
    expect(description)
      .to.have.nested.property('cause.cause.stack')
      .that.matches(/^ {4}at JSON\.parse .*\n {4}at .*logger\.test\.js:\d+:\d+/);
    expect(describeError(knexError())).to.include({ type: 'Error', code: 'SQLITE_ERROR' });
    const systemError = await catchError(readFile('/no/such/file'));
    expect(describeError(systemError)).to.have.property('message').that.includes('/no/such/file');
  });

  it('terminates for an error that is its own cause', () => {
    const error = new Error('');
    error.cause = error;
    expect(() => describeError(error)).to.not.throw();
  });

  describe('never includes', () => {
    for (const [what, make] of [
      ['the body that JSON.parse quotes', parseError],
      ['the message and other members of an error of Knex', knexError],
      ['the message of a cause', () => new StorageUnavailable('unavailable', { cause: knexError() })],
      [
        'the SQL that Knex adds to the message of a failed system call',
        () => Object.assign(new Error(`${CANARY} - read ECONNRESET`), { syscall: 'read', code: 'ECONNRESET' }),
      ],
      ['a cause that is not an error', () => new Error('', { cause: { token: CANARY } })],
      [
        'lines of a message that look like stack frames',
        () => Object.assign(new Error(`\n    at ${CANARY}\n    at ${CANARY}\u2028    at ${CANARY}`), { sql: CANARY }),
      ],
    ] as const) {
      it(what, async () => {
        expect(JSON.stringify(describeError(await make()))).to.not.include(CANARY);
      });
    }
  });
});
