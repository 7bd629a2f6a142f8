import { createHash } from 'node:crypto';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
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
  const start = (environment = {}) =>
    plantStore(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS_FILE: 'tokens', ...environment });
  beforeEach(() => rmSync(file, { recursive: true, force: true }));

  it('adds tokens to ACCESS_TOKENS, and is read again on SIGHUP; short tokens cause a warning', async () => {
    writeFileSync(file, `# for the gardeners\n${digestOf('new-token')}\nold-token\n16-characters-ok\n`);
    const service = start({ ACCESS_TOKENS: 'token-of-the-variable' });
    const port = await service.port();
    const warning = (positions: string) =>
      RegExp(`"positions":\\[${positions}\\],"msg":"ACCESS_TOKENS_FILE has tokens of`);
    await service.waitForOutput(warning('2'));
    writeFileSync(`${file}.new`, `new-token\n16-characters-ok\n15-characters-n\n`);
    renameSync(`${file}.new`, file);
    expect(await sendToken('old-token', port), 'before the signal').to.equal('accepted');

    await service.kill('SIGHUP').waitForOutput(/ACCESS_TOKENS_FILE reloaded/);
    expect(await sendToken('old-token', port)).to.equal('rejected');
    expect(await sendToken('new-token', port)).to.equal('accepted');
    expect(await sendToken('token-of-the-variable', port)).to.equal('accepted');
    await service.waitForOutput(warning('1,3'));
    expect(service.stderr).not.to.match(/(old|new)-token|characters-/);
  });

  it('keeps the previous tokens if it is missing or invalid on SIGHUP', async () => {
    writeFileSync(file, 'old-token\n');
    const service = start();
    const port = await service.port();
    for (const [index, make] of [() => rmSync(file), () => writeFileSync(file, 'good\nbad canary\n')].entries()) {
      make();
      await service.kill('SIGHUP').waitForOutput(RegExp(`(?:"error".*keeping the previous tokens[^]*){${index + 1}}`));
      expect(await sendToken('old-token', port)).to.equal('accepted');
    }
  });
});

describe('plant-store token', () => {
  const folder = temporaryFolder();

  it('creates a new token each time; a service configured with its digest accepts it, but not the digest', async () => {
    const create = async () => JSON.parse((await plantStore(folder, ['token', '--json']).result()).stdout);
    const [{ token, digest }, other] = [await create(), await create()];
    const service = plantStore(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: digest });
    const port = await service.port();
    expect(await sendToken(token, port)).to.equal('accepted');
    for (const wrong of [other.token, digest]) expect(await sendToken(wrong, port)).not.to.equal('accepted');
  });

  it('explains the purpose of the token and of the digest', async () => {
    const { stdout } = await plantStore(folder, ['token']).result();
    expect(stdout).to.match(/^[\w-]{32}\n {2}for the client.*\nsha256:[\da-f]{64}\n {2}for ACCESS_TOKENS.*\n$/);
  });
});
