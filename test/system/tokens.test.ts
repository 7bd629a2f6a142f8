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

  it('accepts the token that plant-store token creates, but not its digest, and reads the file of tokens again on SIGHUP', async () => {
    const { stdout } = await plantStore(folder, ['token']).result();
    const [, token = '', digest = ''] =
      /^([\w-]{32})\n {2}for the client.*\n(sha256:[\da-f]{64})\n {2}for ACCESS_TOKENS.*\n$/.exec(stdout) ?? [];
    const file = join(folder, 'tokens');
    writeFileSync(file, `# for the gardeners\n${digest}\nold-token\n`);
    const settings = { ACCESS_TOKENS: '', ACCESS_TOKENS_FILE: 'tokens', MANAGEMENT_PORT: '0', DATABASE_URL: 'memory:' };
    const service = serve(folder, settings);
    const [port, management] = [await service.port(), await service.managementPort()];
    const reload = async (text: string, output: RegExp) => {
      writeFileSync(file, text);
      await service.kill('SIGHUP').waitForOutput(output);
      const metrics = await (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
      return /^plant_store_tokens_last_reload_successful (.*)$/m.exec(metrics)?.[1];
    };
    expect(await createWith(token, port)).to.equal(200);
    expect(await createWith(digest, port)).to.equal(40102);
    expect(await createWith('old-token', port)).to.equal(40902);
    expect(await reload('new-token\n', /"tokens reloaded"/)).to.equal('1');
    expect(await createWith('old-token', port)).to.equal(40102);
    expect(await createWith('new-token', port)).to.equal(40902);
    expect(await reload('bad canary\n', /"error".*"reason":"ACCESS_TOKENS_FILE: token 1 /)).to.equal('0');
    expect(service.stderr).not.to.match(/(old|new)-token/);
  });

  it('accepts a JWT beside static tokens, which work while the issuer is unavailable', async () => {
    const key = await newKey();
    const issuer = await Issuer.start(key);
    const jwt = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: issuer.jwksUrl.href };
    const port = await serve(folder, { DATABASE_URL: 'memory:', ACCESS_TOKENS: 'beside-jwts', ...jwt }).port();
    expect(await createWith(await sign(key), port)).to.equal(200);
    await issuer.stop();
    expect(await createWith('beside-jwts', port)).to.equal(40902);
    expect(await createWith(await sign(await newKey()), port)).to.equal(40102);
  });
});
