import { spawnSync } from 'node:child_process';
import { promises, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AccessTokens, readTokens } from '../../composition/access-tokens.js';
import { InvalidConfig, readConfig } from '../../composition/config.js';
import { catchError } from '../support/catch-error.js';
import { temporaryFolder } from '../support/temporary.js';

const OTHER_HOSTS = { HOST: '0.0.0.0' };
const JWT = { JWT_ISSUER: 'i', JWT_AUDIENCE: 'a', JWT_JWKS_URL: 'https://issuer.example/' };

describe('AccessTokens', () => {
  const path = join(temporaryFolder(), 'tokens');
  const create = async (environment: Readonly<Record<string, string>>) => {
    const config = readConfig(environment);
    return new AccessTokens(config, await readTokens(config));
  };
  const accepted = async (tokens: AccessTokens, ...candidates: string[]) => {
    const results = await Promise.all(candidates.map((token) => tokens.verify(token)));
    return candidates.filter((_, index) => results[index]?.kind === 'valid');
  };

  const problemOf = async (result: Promise<unknown>) => {
    const error = await catchError(result);
    return error instanceof InvalidConfig ? error.message : error;
  };

  it('accepts a random token on a loopback address, also after a reload', async () => {
    for (const HOST of ['localhost', '127.0.0.2', '::1']) {
      const tokens = await create({ HOST });
      const { randomToken = '' } = tokens;
      expect(randomToken).to.match(/^[\w-]{32}$/);
      await tokens.reload();
      expect(await accepted(tokens, randomToken)).to.deep.equal([randomToken]);
    }
  });

  it('on another address requires a credential, and with one creates no random token', async () => {
    writeFileSync(path, 'token\n');
    for (const credential of [{ ACCESS_TOKENS: 'token' }, { ACCESS_TOKENS_FILE: path }, JWT])
      expect((await create({ ...OTHER_HOSTS, ...credential })).randomToken).to.equal(undefined);
    for (const HOST of ['0.0.0.0', '::', '192.168.0.1', '127.0.0.1.example'])
      expect(await problemOf(create({ HOST }))).to.match(/^ACCESS_TOKENS, .* HOST is not a loopback address; /);
  });

  it('adds the file to the variable, and keeps the previous tokens if it becomes invalid, without printing it', async () => {
    writeFileSync(path, '# gardeners\ngood\n');
    const tokens = await create({ ACCESS_TOKENS: 'fixed', ACCESS_TOKENS_FILE: path });
    for (const [change, problem] of [
      [() => writeFileSync(path, 'good\nbad canary\n'), /^ACCESS_TOKENS_FILE: token 2 must consist of [^c]*/],
      [() => writeFileSync(path, '# nothing\n'), /^ACCESS_TOKENS_FILE: the file contains no token$/],
      [() => rmSync(path), /^ACCESS_TOKENS_FILE: ENOENT: no such file or directory$/],
      [() => spawnSync('mkfifo', [path]), /^ACCESS_TOKENS_FILE: not a regular file$/],
    ] as const) {
      change();
      for (const read of [() => tokens.reload(), () => create({ ACCESS_TOKENS_FILE: path })])
        expect(await problemOf(read()))
          .to.match(problem)
          .and.not.to.include('canary');
      expect(await accepted(tokens, 'fixed', 'good')).to.deep.equal(['fixed', 'good']);
    }
  });

  it('rejects a file that does not respond within five seconds, as on a dead mount', async () => {
    const [{ stat }, { setTimeout }] = [promises, globalThis];
    let endRead = () => {};
    Object.assign(promises, { stat: () => new Promise((_, reject) => (endRead = reject)) });
    Object.assign(globalThis, { setTimeout: (run: () => void, ms: number) => setTimeout(run, ms - 5000) });
    syncBuiltinESMExports();
    const problem = problemOf(create({ ACCESS_TOKENS_FILE: path }));
    Object.assign(promises, { stat });
    Object.assign(globalThis, { setTimeout });
    syncBuiltinESMExports();
    expect(await problem).to.equal('ACCESS_TOKENS_FILE: not done within 5 seconds');
    endRead();
  });
});
