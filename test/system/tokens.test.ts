import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { AUDIENCE, ISSUER, Issuer, newKey, sign } from '../adapters/driven/jwt/issuer.js';
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

  it('is read again on SIGHUP; while it is invalid, the previous tokens stay valid, and a metric tells', async () => {
    writeFileSync(file, `# for the gardeners\n${digestOf('new-token')}\nold-token\n`);
    const settings = { ACCESS_TOKENS_FILE: 'tokens', MANAGEMENT_PORT: '0' };
    const service = plantStore(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ...settings });
    const port = await service.port();
    const management = await service.managementPort();
    const readMetric = async () => {
      const text = (await exchange(management, request('GET /metrics')))?.body ?? '';
      return /^plant_store_tokens_last_reload_successful (.*)$/m.exec(text)?.[1];
    };
    const reload = (output: RegExp) => service.kill('SIGHUP').waitForOutput(output);
    writeFileSync(file, 'new-token\n');
    expect(await sendToken('old-token', port), 'before the signal').to.equal('accepted');
    await reload(/"tokens reloaded"/);
    expect(await sendToken('old-token', port)).to.equal('rejected');
    expect(await readMetric()).to.equal('1');

    writeFileSync(file, 'good\nbad canary\n');
    await reload(/"error".*"reason":"ACCESS_TOKENS_FILE: token 2 .*keeping the previous tokens/);
    expect(await sendToken('new-token', port)).to.equal('accepted');
    expect(await readMetric()).to.equal('0');
    expect(service.stderr).not.to.match(/(old|new)-token/);
  });
});

describe('A JWT', () => {
  it('is accepted beside static tokens, which work while the issuer is unavailable', async () => {
    const [key, next] = [await newKey(), await newKey()];
    const issuer = await Issuer.start(key);
    const jwt = { JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE, JWT_JWKS_URL: issuer.jwksUrl.href };
    // An issuer alone is a credential, so the service starts on any address.
    const settings = { PORT: '0', DATABASE_URL: 'memory:', HOST: '0.0.0.0', ...jwt };
    const [alone, beside] = [settings, { ...settings, ACCESS_TOKENS: 'token-beside-jwts' }].map((environment) =>
      plantStore(temporaryFolder(), [], environment).port(),
    );
    const token = await sign(key);
    for (const port of [alone, beside]) expect(await sendToken(token, Number(await port))).to.equal('accepted');
    expect(await sendToken('token-beside-jwts', Number(await alone))).to.equal('rejected');
    await issuer.stop();
    expect(await sendToken('token-beside-jwts', Number(await beside))).to.equal('accepted');
    expect(await sendToken(await sign(next), Number(await beside))).to.equal('rejected');
  });
});

describe('plant-store token', () => {
  const folder = temporaryFolder();

  it('creates a token; a service configured with its digest accepts it, but not the digest', async () => {
    const { stdout } = await plantStore(folder, ['token']).result();
    const [, token = '', digest = ''] =
      /^([\w-]{32})\n {2}for the client.*\n(sha256:[\da-f]{64})\n {2}for ACCESS_TOKENS.*\n$/.exec(stdout) ?? [];
    const service = plantStore(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: digest });
    const port = await service.port();
    expect(await sendToken(token, port)).to.equal('accepted');
    expect(await sendToken(digest, port)).not.to.equal('accepted');
  });
});
