import { expect } from 'chai';
import { it } from 'mocha';
import { addPriority } from '../../composition/journal.js';

// logger.test.ts shows which logs are for the journal.
it('A line for the systemd journal has the priority of its level', () => {
  const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'unknown'];
  const lines = levels.map((level) => addPriority('', level));
  expect(lines).to.deep.equal(['<7>', '<7>', '<6>', '<4>', '<3>', '<2>', '<6>']);
});
