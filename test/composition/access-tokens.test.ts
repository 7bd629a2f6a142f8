import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AccessTokens } from '../../composition/access-tokens.js';
import { InvalidConfig, readConfig } from '../../composition/config.js';
import { temporaryFolder } from '../support/temporary.js';

const OTHER_HOSTS = { HOST: '0.0.0.0' };
const JWT = { JWT_ISSUER: 'i', JWT_AUDIENCE: 'a', JWT_JWKS_URL: 'https://issuer.example/' };

describe('AccessTokens', () => {
  const path = join(temporaryFolder(), 'tokens');
  const create = (environment: Readonly<Record<string, string>>) => new AccessTokens(readConfig(environment));
  const accepted = async (tokens: AccessTokens, ...candidates: string[]) => {
    const results = await Promise.all(candidates.map((token) => tokens.verify(token)));
    return candidates.filter((_, index) => results[index]?.kind === 'valid');
  };

  it('accepts a random token on a loopback address, also after a reload', async () => {
    for (const HOST of ['localhost', '127.0.0.2', '::1']) {
      const tokens = create({ HOST });
      const { randomToken = '' } = tokens;
      expect(randomToken).to.match(/^[\w-]{32}$/);
      tokens.reload();
      expect(await accepted(tokens, randomToken)).to.deep.equal([randomToken]);
    }
  });

  it('on another address requires a credential, and with one creates no random token', () => {
    writeFileSync(path, 'token\n');
    for (const credential of [{ ACCESS_TOKENS: 'token' }, { ACCESS_TOKENS_FILE: path }, JWT])
      expect(create({ ...OTHER_HOSTS, ...credential }).randomToken).to.equal(undefined);
    for (const HOST of ['0.0.0.0', '::', '192.168.0.1', '127.0.0.1.example'])
      expect(() => create({ HOST })).to.throw(InvalidConfig, /^ACCESS_TOKENS, .* HOST is not a loopback address; /);
  });

  it('adds the file to the variable, and keeps the previous tokens if it becomes invalid, without printing it', async () => {
    writeFileSync(path, '# gardeners\ngood\n');
    const tokens = create({ ACCESS_TOKENS: 'fixed', ACCESS_TOKENS_FILE: path });
    for (const [change, problem] of [
      [() => writeFileSync(path, 'good\nbad canary\n'), /^ACCESS_TOKENS_FILE: token 2 must consist of [^c]*/],
      [() => writeFileSync(path, '# nothing\n'), /^ACCESS_TOKENS_FILE: the file contains no token$/],
      [() => rmSync(path), /^ACCESS_TOKENS_FILE: ENOENT: no such file or directory/],
    ] as const) {
      change();
      for (const read of [() => tokens.reload(), () => create({ ACCESS_TOKENS_FILE: path })])
        expect(read).to.throw(InvalidConfig, problem).with.property('message').that.does.not.include('canary');
      expect(await accepted(tokens, 'fixed', 'good')).to.deep.equal(['fixed', 'good']);
    }
  });
});
