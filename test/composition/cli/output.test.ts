import { fstatSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { print, reportFailure, UsageError } from '../../../composition/cli/output.js';
import { catchError } from '../../support/catch-error.js';
import { CommandFolder } from '../../support/command-folder.js';
import { withStreams } from './in-process.js';

describe('A failure', () => {
  it('that is not expected is reported without its message, which may contain user data', async () => {
    const error = await catchError((async () => JSON.parse('canary'))());
    const { result, stderr } = await withStreams(() => reportFailure(error));
    expect(result).to.equal(1);
    expect(stderr)
      .to.match(/^plant-store: internal error: \{\n.*type: 'SyntaxError'/)
      .and.not.to.include('canary');
  });

  it('is a fatal line in the systemd journal', async () => {
    const { fd } = process.stdin;
    const { dev, ino } = fstatSync(fd, { bigint: true });
    process.env['JOURNAL_STREAM'] = `${dev}:${ino}`;
    const { stderr } = await withStreams(() => {
      Object.assign(process.stderr, { fd });
      return reportFailure(new UsageError('one'));
    });
    delete process.env['JOURNAL_STREAM'];
    expect(stderr).to.equal('<2>plant-store: one\n');
  });
});

describe('Standard output', () => {
  const folder = new CommandFolder();

  it('rejects if it cannot be written, unless its reader has closed it', async () => {
    for (const [code, expected] of [
      ['EPIPE', 'printed'],
      ['ENOSPC', 'Error: ENOSPC'],
    ] as const) {
      const { result } = await withStreams(() => {
        const error = Object.assign(new Error(code), { code });
        Object.assign(process.stdout, { write: (_: string, done: (error: Error) => void) => done(error) });
        return print('').then(() => 'printed', String);
      });
      expect(result).to.equal(expected);
    }
  });

  it('may be closed by its reader before a command ends', async () => {
    // More than the 64 KiB that a pipe holds.
    const lines = folder.newFile('no JSON\n'.repeat(2000));
    const { stderr } = await folder.shell(`$PLANT_STORE import ${lines} | read -r line`, { DATABASE_URL: 'memory:' });
    expect(stderr).to.equal('0 plants created, 0 already stored, 2000 lines rejected\n');
  });
});
