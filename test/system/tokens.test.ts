import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { toLines, toOutcome } from '../support/client.js';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { exchange, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';

describe('ACCESS_TOKENS_FILE', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const file = join(folder, 'tokens');
  beforeEach(() => rmSync(file, { recursive: true, force: true }));

  const environment = { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS_FILE: 'tokens' };
  const digestOf = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`;

  /** Sends a token and returns the outcome: 41501 if it is accepted, because the request has no JSON body. */
  async function sendToken(token: string, port: number): Promise<unknown> {
    return toOutcome(await exchange(port, request('POST /plants', { Authorization: `Bearer ${token}` })));
  }
  const ACCEPTED = 41501;
  const REJECTED = 40102;

  it('contains tokens, digests of tokens and comments, one per line', async () => {
    writeFileSync(file, `# for the gardeners\nplain-token\r\n\n  ${digestOf('secret-token')}  \n#commented-token\n`);
    const port = await new Executable(folder, [], environment).port();
    expect(await sendToken('plain-token', port)).to.equal(ACCEPTED);
    expect(await sendToken('secret-token', port)).to.equal(ACCEPTED);
    expect(await sendToken('commented-token', port)).to.equal(REJECTED);
    expect(await sendToken(digestOf('secret-token'), port)).to.equal(REJECTED);
  });

  it('can be combined with ACCESS_TOKENS', async () => {
    writeFileSync(file, 'token-of-the-file\n');
    const port = await new Executable(folder, [], { ...environment, ACCESS_TOKENS: 'token-of-the-variable' }).port();
    expect(await sendToken('token-of-the-file', port)).to.equal(ACCEPTED);
    expect(await sendToken('token-of-the-variable', port)).to.equal(ACCEPTED);
  });

  it('is read again on SIGHUP: accepts new tokens and rejects removed ones', async () => {
    writeFileSync(file, 'old-token\n');
    const service = new Executable(folder, [], { ...environment, ACCESS_TOKENS: 'token-of-the-variable' });
    const port = await service.port();
    writeFileSync(`${file}.new`, `${digestOf('new-token')}\n`);
    renameSync(`${file}.new`, file);
    expect(await sendToken('old-token', port), 'before the signal').to.equal(ACCEPTED);

    await service.kill('SIGHUP').waitForOutput(/ACCESS_TOKENS_FILE reloaded/);
    expect(await sendToken('old-token', port)).to.equal(REJECTED);
    expect(await sendToken('new-token', port)).to.equal(ACCEPTED);
    expect(await sendToken('token-of-the-variable', port)).to.equal(ACCEPTED);
  });

  const invalidFiles: Readonly<Record<string, () => void>> = {
    'is missing': () => {},
    'is a folder': () => mkdirSync(file),
    'is empty': () => writeFileSync(file, ''),
    'contains only comments': () => writeFileSync(file, '# canary\n'),
    'contains an invalid token': () => writeFileSync(file, 'good-canary\nbad canary\n'),
    'contains an invalid digest': () => writeFileSync(file, 'sha256:canary\n'),
  };
  for (const [what, make] of Object.entries(invalidFiles)) {
    it(`makes the start fail with one line and exit code 78 if it ${what}, and prints no token`, async () => {
      make();
      const run = new Executable(folder, [], environment);
      expect(await run.exited()).to.equal(78);
      expect(toLines(run.stderr)).to.have.length(1);
      expect(run.stderr).to.match(/^plant-store: ACCESS_TOKENS_FILE="tokens" must be /);
      expect(run.stdout + run.stderr).not.to.contain('canary');
    });
  }

  it('keeps the previous tokens on SIGHUP if it is invalid, logs the reason, and prints no token', async () => {
    writeFileSync(file, 'old-token\n');
    const service = new Executable(folder, [], environment);
    const port = await service.port();
    let rejected = 0;
    for (const make of Object.values(invalidFiles)) {
      rmSync(file, { recursive: true, force: true });
      make();
      service.kill('SIGHUP');
      await service.waitForOutput(new RegExp(`(?:keeping the previous tokens[^]*){${++rejected}}`));
      expect(await sendToken('old-token', port)).to.equal(ACCEPTED);
    }
    const lines = toLines(service.stderr).filter((line) => line.includes('keeping the previous tokens'));
    for (const line of lines) expect(JSON.parse(line)).to.include({ level: 'error' }).and.to.have.property('reason');
    expect(service.stdout + service.stderr).not.to.match(/canary|old-token/);
  });
});

describe('plant-store token', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  it('creates a new token each time; a service configured with its digest accepts it', async () => {
    const created = await Promise.all(
      ['a', 'b'].map(async () => {
        const run = new Executable(folder, ['token', '--json']);
        expect(await run.exited()).to.equal(0);
        return JSON.parse(run.stdout);
      }),
    );
    const [{ token, digest }, other] = created;
    expect(token)
      .to.match(/^[\w-]{32}$/)
      .and.to.not.equal(other.token);
    const service = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: digest });
    const port = await service.port();
    const outcomes = await Promise.all(
      [token, other.token].map(async (sent) =>
        toOutcome(await exchange(port, request('POST /plants', { Authorization: `Bearer ${sent}` }))),
      ),
    );
    expect(outcomes).to.deep.equal([41501, 40102]);
  });

  it('explains the purpose of the token and of the digest', async () => {
    const run = new Executable(folder, ['token']);
    expect(await run.exited()).to.equal(0);
    expect(run.stdout).to.match(/^[\w-]{32}\n {2}for the client.*\nsha256:[\da-f]{64}\n {2}for ACCESS_TOKENS.*\n$/);
  });
});
