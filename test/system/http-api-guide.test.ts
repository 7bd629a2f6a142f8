import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { codeBlocks, section } from '../support/guide.js';
import { TOKEN } from '../support/service.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The curl commands of docs/http-api.md', () => {
  const folder = temporaryFolder();
  let url: string;
  before(async function () {
    skipUnlessInstalled(this, 'curl', '--version');
    url = `http://127.0.0.1:${await serve(folder).port()}`;
  });

  it('print what the guide shows', () => {
    const blocks = codeBlocks(section('docs/http-api.md', 'HTTP API'));
    for (const [index, { text: command }] of blocks.entries()) {
      if (!command.startsWith('curl')) continue;
      const line = command.replaceAll('http://127.0.0.1:3000', url);
      const env = { ...process.env, TOKEN };
      const { stdout, stderr } = spawnSync('bash', ['-c', line], { encoding: 'utf8', env });
      // In the guide, … stands for any text.
      const parts = blocks[index + 1]?.text
        .trimEnd()
        .split('…')
        .map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&'));
      expect(stdout.replaceAll('\r', ''), `${command}${stderr}`).to.match(RegExp(`^${parts?.join('.*')}$`, 's'));
    }
  });
});
