import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { plantStore } from '../support/executable.js';
import { exchange, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';

const digestOf = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`;

/** Sends a token. An accepted token gets 41501, because the request has no JSON body. */
async function sendToken(token: string, port: number): Promise<'accepted' | 'rejected' | undefined> {
  const response = await exchange(port, request('POST /plants', { Authorization: `Bearer ${token}` }));
  return ({ 41501: 'accepted', 40102: 'rejected' } as const)[response?.outcome ?? 0];
}

describe('ACCESS_TOKENS_FILE', () => {
  const folder = temporaryFolder();
  const file = join(folder, 'tokens');

  it('adds tokens to ACCESS_TOKENS, is read again on SIGHUP unless invalid, and causes a warning about short tokens', async () => {
    writeFileSync(file, `# for the gardeners\n${digestOf('new-token')}\nold-token\n16-characters-ok\n`);
    const settings = { ACCESS_TOKENS: 'token-of-the-variable', ACCESS_TOKENS_FILE: 'tokens' };
    const service = plantStore(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ...settings });
    const port = await service.port();
    const warning = (positions: string) =>
      RegExp(`"positions":\\[${positions}\\],"msg":"ACCESS_TOKENS_FILE has tokens of`);
    await service.waitForOutput(warning('2'));
    writeFileSync(`${file}.new`, `new-token\n16-characters-ok\n15-characters-n\n`);
    renameSync(`${file}.new`, file);
    expect(await sendToken('old-token', port), 'before the signal').to.equal('accepted');

    await service.kill('SIGHUP').waitForOutput(/ACCESS_TOKENS_FILE reloaded/);
    expect(await sendToken('old-token', port)).to.equal('rejected');
    await service.waitForOutput(warning('1,3'));

    for (const [index, change] of [() => rmSync(file), () => writeFileSync(file, 'good\nbad canary\n')].entries()) {
      change();
      await service.kill('SIGHUP').waitForOutput(RegExp(`(?:"error".*keeping the previous tokens[^]*){${index + 1}}`));
      expect(await sendToken('new-token', port)).to.equal('accepted');
      expect(await sendToken('token-of-the-variable', port)).to.equal('accepted');
    }
    expect(service.stderr).not.to.match(/(old|new)-token|characters-/);
  });
});

describe('plant-store token', () => {
  const folder = temporaryFolder();
  const run = async (...args: string[]) => (await plantStore(folder, ['token', ...args]).result()).stdout;

  it('creates a new token each time; a service configured with its digest accepts it, but not the digest', async () => {
    const { token, digest } = JSON.parse(await run('--json'));
    const explained = await run();
    expect(explained).to.match(/^[\w-]{32}\n {2}for the client.*\nsha256:[\da-f]{64}\n {2}for ACCESS_TOKENS.*\n$/);
    const service = plantStore(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: digest });
    const port = await service.port();
    expect(await sendToken(token, port)).to.equal('accepted');
    for (const wrong of [explained.slice(0, 32), digest]) expect(await sendToken(wrong, port)).not.to.equal('accepted');
  });
});
