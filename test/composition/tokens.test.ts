import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { InvalidConfig } from '../../composition/files.js';
import { AccessTokens, createTokenVerifier } from '../../composition/tokens.js';
import { catchError } from '../support/catch-error.js';
import { temporaryFolder } from '../support/temporary.js';

const OTHER_HOSTS = { HOST: '0.0.0.0' };
const JWT = { JWT_ISSUER: 'i', JWT_AUDIENCE: 'a', JWT_JWKS_URL: 'https://issuer.example/' };

describe('The access tokens', () => {
  const path = join(temporaryFolder(), 'tokens');
  const create = async (environment: Readonly<Record<string, string>>) => {
    const config = readConfig(environment);
    const tokens = new AccessTokens(config);
    await createTokenVerifier(tokens, config);
    return tokens;
  };
  const accepted = async (tokens: AccessTokens, ...candidates: string[]) => {
    const results = await Promise.all(candidates.map((token) => tokens.verify(token)));
    return candidates.filter((_, index) => results[index]?.kind === 'valid');
  };

  const problemOf = async (result: Promise<unknown>) => {
    const error = await catchError(result);
    return error instanceof InvalidConfig ? error.message : error;
  };

  it('include a random token on a loopback address, also after a reload', async () => {
    for (const HOST of ['localhost', '127.0.0.2', '::1']) {
      const tokens = await create({ HOST });
      const { randomToken = '' } = tokens;
      expect(randomToken).to.match(/^[\w-]{32}$/);
      tokens.reload();
      expect(await accepted(tokens, randomToken)).to.deep.equal([randomToken]);
    }
  });

  it('include no random one on another address, where a credential is required', async () => {
    writeFileSync(path, 'token\n');
    for (const credential of [{ ACCESS_TOKENS: 'token' }, { ACCESS_TOKENS_FILE: path }, JWT])
      expect((await create({ ...OTHER_HOSTS, ...credential })).randomToken).to.equal(undefined);
    for (const HOST of ['0.0.0.0', '::', '192.168.0.1', '127.0.0.1.example'])
      expect(await problemOf(create({ HOST }))).to.match(/^ACCESS_TOKENS, .* HOST is not a loopback address; /);
  });

  it('are accepted beside JWTs', async () => {
    const config = readConfig({ ...JWT, ACCESS_TOKENS: 'fixed' });
    const verifier = await createTokenVerifier(new AccessTokens(config), config);
    expect(await verifier.verify('fixed')).to.include({ kind: 'valid' });
    expect(await verifier.verify('another')).to.deep.equal({ kind: 'invalid', reason: 'malformed' });
  });

  it('are those of the variable and the file; if it becomes invalid, the previous ones, and no error prints it', async () => {
    writeFileSync(path, '# gardeners\n\n  good \t\r\n   # off: three\n');
    const tokens = await create({ ACCESS_TOKENS: 'fixed', ACCESS_TOKENS_FILE: path });
    const changes = [
      [() => writeFileSync(path, 'good\nbad canary\n'), /^ACCESS_TOKENS_FILE: token 2 must consist of [^c]*/],
      [
        () => writeFileSync(path, 'ali=same\nberi=same\n'),
        /^ACCESS_TOKENS_FILE: token 2 is also the token of another client$/,
      ],
      [() => writeFileSync(path, '# nothing\n'), /^ACCESS_TOKENS_FILE: the file contains no token$/],
      [() => rmSync(path), /^ACCESS_TOKENS_FILE: ENOENT: no such file or directory, stat '.*tokens'$/],
      [() => symlinkSync('/dev/zero', path), /^ACCESS_TOKENS_FILE: must be a regular file of at most 1 MiB$/],
    ] as const;
    for (const [change, problem] of changes) {
      change();
      for (const read of [async () => tokens.reload(), () => create({ ACCESS_TOKENS_FILE: path })])
        expect(await problemOf(read()))
          .to.match(problem)
          .and.not.to.include('canary');
      expect(await accepted(tokens, 'fixed', 'good')).to.deep.equal(['fixed', 'good']);
    }
    expect(tokens.failedReloads).to.equal(changes.length);
  });
});
