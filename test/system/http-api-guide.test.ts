import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { codeBlocks, section } from '../support/guide.js';
import { TOKEN } from '../support/service.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';

describe('docs/http-api.md', () => {
  const folder = temporaryFolder();

  it('shows what its curl commands print', async function () {
    skipUnlessInstalled(this, 'curl', '--version');
    const url = `http://127.0.0.1:${await serve(folder).port()}`;
    const env = { ...process.env, TOKEN };
    const blocks = codeBlocks(section('docs/http-api.md', 'HTTP API')).map(({ text }) => text);
    for (const [index, command] of blocks.entries()) {
      if (!command.startsWith('curl')) continue;
      const line = command.replaceAll('http://127.0.0.1:3000', url);
      const { stdout } = spawnSync('bash', ['-c', line], { encoding: 'utf8', env });
      // In the guide, … stands for any text.
      const parts = blocks[index + 1]?.trimEnd().split('…');
      const pattern = parts?.map((part) => part.replace(/[$()*+.?[\\\]^{|}]/g, '\\$&')).join('.*');
      expect(stdout.replaceAll('\r', ''), command).to.match(RegExp(`^${pattern}$`, 's'));
    }
  });
});
