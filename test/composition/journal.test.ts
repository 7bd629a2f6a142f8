import { fstatSync } from 'node:fs';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { addPriority, isJournal } from '../../composition/journal.js';

describe('The systemd journal', () => {
  afterEach(() => {
    delete process.env['JOURNAL_STREAM'];
  });

  it('is standard error if JOURNAL_STREAM names its file', () => {
    const { dev, ino } = fstatSync(process.stderr.fd, { bigint: true });
    for (const [stream, expected] of [
      ['', false],
      [`${dev}:${ino + 1n}`, false],
      [`${dev}:${ino}`, true],
    ] as const) {
      process.env['JOURNAL_STREAM'] = stream;
      expect(isJournal(), stream).to.equal(expected);
    }
  });

  it('gets lines with the priority of their level', () => {
    const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'unknown'];
    const lines = levels.map((level) => addPriority('', level));
    expect(lines).to.deep.equal(['<7>', '<7>', '<6>', '<4>', '<3>', '<2>', '<6>']);
  });
});
