import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { notifySystemd } from '../../../composition/cli/systemd.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('notifySystemd', () => {
  const folder = temporaryFolder();
  const path = process.env['PATH'];
  beforeEach(() => {
    process.env['PATH'] = `${folder}:/bin`;
  });
  afterEach(() => {
    process.env['PATH'] = path;
  });

  it('reports that the service is ready once a check succeeds', async () => {
    writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\necho "$@" >${folder}/arguments\n`, { mode: 0o755 });
    let checks = 0;
    const isReady = async () => ++checks > 1;
    await notifySystemd(isReady, { warn: () => expect.fail('a warning') });
    expect(checks).to.equal(2);
    expect(readFileSync(join(folder, 'arguments'), 'utf8')).to.equal('--ready\n');
  });

  it('logs a warning if it cannot report', async () => {
    process.env['PATH'] = '/nowhere';
    const lines: unknown[][] = [];
    await notifySystemd(async () => true, { warn: (...line: unknown[]) => void lines.push(line) });
    expect(lines).to.have.nested.property('[0][0].err.code', 'ENOENT');
  });
});
