import { expect } from 'chai';
import { it } from 'mocha';
import { notifySystemd } from '../../../composition/cli/systemd.js';

// test/composition/cli/serve.test.ts shows what systemd-notify gets.
it('notifySystemd waits until the service is ready, and logs a warning if it cannot report that', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  let checks = 0;
  const isReady = async () => ++checks > 1;
  const lines: unknown[][] = [];
  await notifySystemd(isReady, { warn: (...line: unknown[]) => void lines.push(line) });
  process.env['PATH'] = path;
  expect(checks).to.equal(2);
  expect(lines).to.have.nested.property('[0][0].err.code', 'ENOENT');
});
