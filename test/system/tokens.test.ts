import { createHash } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { exchange, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { linesOf, outcomeOf } from './client.js';

describe('ACCESS_TOKENS_FILE', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const file = join(folder, 'tokens');
  beforeEach(() => rmSync(file, { recursive: true, force: true }));

  const environment = { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS_FILE: 'tokens' };
  const digestOf = (token: string) => `sha256:${createHash('sha256').update(token).digest('hex')}`;

  /** What the service says to a token: 41501 (it is let in, and sends no JSON) or the number of the refusal. */
  async function outcomeWith(token: string, port: number): Promise<unknown> {
    return outcomeOf(await exchange(port, request('POST /plants', { Authorization: `Bearer ${token}` })));
  }
  const LET_IN = 41501;
  const REFUSED = 40102;

  it('holds tokens and digests of tokens, one a line, and comments', async () => {
    writeFileSync(file, `# of the gardeners\nplain-token\r\n\n  ${digestOf('secret-token')}  \n#commented-token\n`);
    const port = await new Executable(folder, [], environment).port();
    expect(await outcomeWith('plain-token', port)).to.equal(LET_IN);
    expect(await outcomeWith('secret-token', port)).to.equal(LET_IN);
    expect(await outcomeWith('commented-token', port)).to.equal(REFUSED);
    expect(await outcomeWith(digestOf('secret-token'), port)).to.equal(REFUSED);
  });

  it('stands beside ACCESS_TOKENS', async () => {
    writeFileSync(file, 'token-of-the-file\n');
    const port = await new Executable(folder, [], { ...environment, ACCESS_TOKENS: 'token-of-the-variable' }).port();
    expect(await outcomeWith('token-of-the-file', port)).to.equal(LET_IN);
    expect(await outcomeWith('token-of-the-variable', port)).to.equal(LET_IN);
  });

  it('is read again on SIGHUP: new tokens are let in, old ones no longer', async () => {
    writeFileSync(file, 'old-token\n');
    const service = new Executable(folder, [], { ...environment, ACCESS_TOKENS: 'token-of-the-variable' });
    const port = await service.port();
    writeFileSync(`${file}.new`, `${digestOf('new-token')}\n`);
    renameSync(`${file}.new`, file);
    expect(await outcomeWith('old-token', port), 'before the signal').to.equal(LET_IN);

    await service.kill('SIGHUP').says(/tokens read again/);
    expect(await outcomeWith('old-token', port)).to.equal(REFUSED);
    expect(await outcomeWith('new-token', port)).to.equal(LET_IN);
    expect(await outcomeWith('token-of-the-variable', port)).to.equal(LET_IN);
  });

  const unusable: Readonly<Record<string, () => void>> = {
    'that is missing': () => {},
    'that is a folder': () => mkdirSync(file),
    'that is empty': () => writeFileSync(file, ''),
    'that holds only comments': () => writeFileSync(file, '# canary\n'),
    'that holds something that is no token': () => writeFileSync(file, 'good-canary\nbad canary\n'),
    'that holds something that is no digest': () => writeFileSync(file, 'sha256:canary\n'),
  };
  for (const [what, make] of Object.entries(unusable)) {
    it(`${what} stops the start in one line, with exit code 78, and shows no token`, async () => {
      make();
      const run = new Executable(folder, [], environment);
      expect(await run.exited()).to.equal(78);
      expect(linesOf(run.stderr)).to.have.length(1);
      expect(run.stderr).to.match(/^plant-store: ACCESS_TOKENS_FILE="tokens" must be /);
      expect(run.stdout + run.stderr).not.to.contain('canary');
    });

    it(`${what} on SIGHUP keeps the old tokens, says so in the log, and shows no token`, async () => {
      writeFileSync(file, 'old-token\n');
      const service = new Executable(folder, [], environment);
      const port = await service.port();
      expect(await outcomeWith('old-token', port), 'before the signal').to.equal(LET_IN);
      rmSync(file);
      make();
      const [line] = await service.kill('SIGHUP').says(/^.*so the old tokens stay.*\n/m);
      expect(JSON.parse(line)).to.include({ level: 'error' }).and.to.have.property('reason');
      expect(await outcomeWith('old-token', port)).to.equal(LET_IN);
      expect(service.stdout + service.stderr).not.to.match(/canary|old-token/);
    });
  }
});

describe('plant-store token', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  it('makes another token each time, which its digest lets in', async () => {
    const made = await Promise.all(
      ['a', 'b'].map(async () => {
        const run = new Executable(folder, ['token', '--json']);
        expect(await run.exited()).to.equal(0);
        return JSON.parse(run.stdout);
      }),
    );
    const [{ token, digest }, other] = made;
    expect(token)
      .to.match(/^[\w-]{32}$/)
      .and.to.not.equal(other.token);
    const service = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: digest });
    const port = await service.port();
    const outcomes = await Promise.all(
      [token, other.token].map(async (sent) =>
        outcomeOf(await exchange(port, request('POST /plants', { Authorization: `Bearer ${sent}` }))),
      ),
    );
    expect(outcomes).to.deep.equal([41501, 40102]);
  });

  it('says to a person what each is for', async () => {
    const run = new Executable(folder, ['token']);
    expect(await run.exited()).to.equal(0);
    expect(run.stdout).to.match(/^[\w-]{32}\n {2}for the client.*\nsha256:[\da-f]{64}\n {2}for ACCESS_TOKENS.*\n$/);
  });
});
