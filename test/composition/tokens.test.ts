import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { readConfig } from '../../composition/config.js';
import { InvalidConfig } from '../../composition/files.js';
import { AccessTokens, createTokenVerifier } from '../../composition/tokens.js';
import { catchError } from '../support/catch-error.js';
import { CANARY } from '../support/secret-leaks.js';
import { temporaryFolder } from '../support/temporary.js';

const JWT = { JWT_ISSUER: 'i', JWT_AUDIENCE: 'a', JWT_JWKS_URL: 'https://issuer.example/' };

describe('The access tokens', () => {
  const path = join(temporaryFolder(), 'tokens');
  const create = async (environment: Readonly<Record<string, string>>) => {
    const config = readConfig(environment);
    const tokens = new AccessTokens(config);
    return { tokens, verifier: await createTokenVerifier(tokens, config) };
  };

  it('include a random token on a loopback address, also after a reload', async () => {
    for (const HOST of ['localhost', '127.0.0.2', '::1']) {
      const { tokens } = await create({ HOST });
      const { randomToken = '' } = tokens;
      expect(randomToken).to.match(/^[\w-]{32}$/);
      tokens.reload();
      expect(await tokens.verify(randomToken)).to.include({ kind: 'valid' });
    }
  });

  it('include no random one if a credential is configured, which other addresses require', async () => {
    writeFileSync(path, 'token\n');
    for (const credential of [{ ACCESS_TOKENS: 'token' }, { ACCESS_TOKENS_FILE: path }, JWT])
      expect((await create({ HOST: '0.0.0.0', ...credential })).tokens.randomToken).to.equal(undefined);
    for (const HOST of ['0.0.0.0', '::', '192.168.0.1', '127.0.0.1.example'])
      expect(await catchError(create({ HOST })))
        .to.be.instanceOf(InvalidConfig)
        .with.property('message')
        .that.matches(/^ACCESS_TOKENS, .* HOST is not a loopback address; /);
  });

  it('are accepted beside JWTs', async () => {
    const { verifier } = await create({ ...JWT, ACCESS_TOKENS: 'fixed' });
    expect(await verifier.verify('fixed')).to.include({ kind: 'valid' });
    expect(await verifier.verify('another')).to.deep.equal({ kind: 'invalid', reason: 'malformed' });
  });

  it('of a file stay accepted if it becomes invalid, and no error prints them', async () => {
    writeFileSync(path, '# gardeners\n\n  good \t\r\n   # off: three\n');
    const { tokens } = await create({ ACCESS_TOKENS: 'fixed', ACCESS_TOKENS_FILE: path });
    const changes = [
      [() => writeFileSync(path, `good\nbad ${CANARY}\n`), /^ACCESS_TOKENS_FILE: token 2 must (?!.*canary)/],
      [() => writeFileSync(path, '# nothing\n'), /^ACCESS_TOKENS_FILE: the file contains no token$/],
      [() => rmSync(path), /^ACCESS_TOKENS_FILE: ENOENT: no such file or directory, stat '.*tokens'$/],
    ] as const;
    for (const [change, problem] of changes) {
      change();
      expect(() => tokens.reload()).to.throw(InvalidConfig, problem);
      for (const token of ['fixed', 'good']) expect(await tokens.verify(token)).to.include({ kind: 'valid' });
      expect(() => new AccessTokens(readConfig({ ACCESS_TOKENS_FILE: path }))).to.throw(InvalidConfig, problem);
    }
    expect(tokens.failedReloads).to.equal(changes.length);
  });
});
