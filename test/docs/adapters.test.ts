import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createContainer, type Plugin, readConfig, services } from '../../composition/index.js';
import type { TokenVerifier } from '../../core/index.js';
import { tokenVerifierContract } from '../contract/index.js';
import { codeBlocks, section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { portOf } from '../support/port.js';
import { temporaryFolder } from '../support/temporary.js';

interface Module {
  readonly IntrospectionVerifier: new (url: string) => TokenVerifier;
  readonly default: Plugin;
}

/** The only token that the issuer knows. */
const VALID_TOKEN = 'Correct-horse.battery~staple+/9';

describe('The token verifier in docs/adapters.md', () => {
  const folder = temporaryFolder();
  let isAvailable = true;
  const issuer = createServer(async (req, res) => {
    const isKnown = new URLSearchParams(await text(req)).get('token') === VALID_TOKEN;
    res.statusCode = isAvailable ? 200 : 503;
    res.end(JSON.stringify(isKnown ? { active: true, sub: 'gardener' } : { active: false }));
  });
  let url: string;
  let example: Module;
  before(async () => {
    await once(issuer.listen(0, '127.0.0.1'), 'listening');
    url = `http://127.0.0.1:${portOf(issuer)}`;
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    const blocks = codeBlocks(section('docs/adapters.md', 'Write a token verifier'));
    writeFileSync(join(folder, 'verifier.mjs'), blocks.find(({ language }) => language === 'js')?.text ?? '');
    example = await import(join(folder, 'verifier.mjs'));
  });
  after(() => issuer.close());

  const { cases } = tokenVerifierContract({
    create: async () => new example.IntrospectionVerifier(url),
    validToken: VALID_TOKEN,
    async withIssuerUnavailable(work) {
      isAvailable = false;
      await work().finally(() => {
        isAvailable = true;
      });
    },
  });
  // That case takes ten seconds with an issuer, and the verifier has no cache.
  for (const { name, timeoutMs, run } of cases.filter((each) => !each.name.includes('memory')))
    it(name, run).timeout(timeoutMs);

  it('is a plugin', async () => {
    const container = createContainer(readConfig({ LOG_LEVEL: 'silent', MANAGEMENT_PORT: 'off' }));
    process.env['INTROSPECTION_URL'] = url;
    await example.default(container);
    delete process.env['INTROSPECTION_URL'];
    const verifier = await container.getAsync(services.TokenVerifier);
    expect(await verifier.verify(VALID_TOKEN)).to.deep.equal({ subject: 'gardener' });
  });
});
