import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AUDIENCE, ISSUER, Issuer, newKey, sign } from '../adapters/driven/jwt/issuer.js';
import { create, serve } from '../support/client.js';
import { plantStore } from '../support/executable.js';
import { temporaryFolder } from '../support/temporary.js';

/** Creates a plant, and returns the outcome. */
async function createWith(token: string, port: number): Promise<unknown> {
  return (await create(port, { id: 1n, name: 'Monstera' }, { Authorization: `Bearer ${token}` }))?.outcome;
}

describe('A service', () => {
  const folder = temporaryFolder();

  it('accepts the token that plant-store token creates, but not its digest, until the file of tokens changes', async () => {
    const { stdout } = await plantStore(folder, ['token', 'ali']).result();
    const [, token = '', entry = '', digest = ''] =
      /^([\w-]{32})\n {2}for the client.*\n(ali=(sha256:[\da-f]{64}))\n {2}for ACCESS_TOKENS.*\n$/.exec(stdout) ?? [];
    const file = join(folder, 'tokens');
    writeFileSync(file, `# for the gardeners\n${entry}\n`);
    const settings = { ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: 'tokens', DATABASE_URL: 'memory:' };
    const service = serve(folder, settings);
    const port = await service.port();
    expect(await createWith(token, port)).to.equal(200);
    expect(await createWith(digest, port)).to.equal(40102);
    writeFileSync(file, 'new-token\n');
    await service.kill('SIGHUP').waitForOutput(/"tokens reloaded"/);
    expect(service.stderr).to.match(/"subject":"ali","status":200/);
    expect(await createWith(token, port)).to.equal(40102);
    expect(await createWith('new-token', port)).to.equal(40902);
    writeFileSync(file, 'bad canary\n');
    await service.kill('SIGHUP').waitForOutput(/"error".*"reason":"ACCESS_TOKENS_FILE: token 1 /);
    expect(await createWith('new-token', port)).to.equal(40902);
  });

  it('accepts a JWT beside static tokens, which work while the issuer is unavailable', async () => {
    const key = await newKey();
    const issuer = await Issuer.start(key);
    const jwt = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: issuer.jwksUrl.href };
    const service = serve(folder, { DATABASE_URL: 'memory:', ACCESS_TOKENS: 'beside-jwts', ...jwt });
    const port = await service.port();
    expect(await createWith(await sign(key), port)).to.equal(200);
    await service.waitForOutput(/"subject":"gardener","issuer":"https:\/\/issuer.example\/garden","status":200/);
    await issuer.stop();
    expect(await createWith('beside-jwts', port)).to.equal(40902);
    expect(await createWith(await sign(await newKey()), port)).to.equal(40102);
  });
});
