import { once } from 'node:events';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { tokenVerifierContract } from '@plant-store/contract';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { createContainer, readConfig, services } from '../../composition/index.js';
import { inRepository } from '../support/paths.js';
import { portOf } from '../support/port.js';
import { runContract } from '../support/run-contract.js';

/** The only token that the issuer knows. */
const VALID_TOKEN = 'Correct-horse.battery~staple+/9';

describe('The introspection example', () => {
  let isAvailable = true;
  const issuer = createServer(async (req, res) => {
    const isKnown = new URLSearchParams(await text(req)).get('token') === VALID_TOKEN;
    res.statusCode = isAvailable ? 200 : 503;
    res.end(
      JSON.stringify(isKnown ? { active: true, sub: 'gardener', iss: 'https://issuer.example' } : { active: false }),
    );
  });
  before(() => once(issuer.listen(0, '127.0.0.1'), 'listening'));
  after(() => issuer.close());

  const create = async () => {
    process.env['INTROSPECTION_URL'] = `http://127.0.0.1:${portOf(issuer)}`;
    const container = await createContainer(readConfig({}));
    const plugin = await import(inRepository('docs/examples/introspection/verifier.js'));
    await plugin.default(container);
    return container.getAsync(services.TokenVerifier);
  };
  const { cases, leftOut } = tokenVerifierContract({
    create,
    validToken: VALID_TOKEN,
    async withIssuerUnavailable(work) {
      isAvailable = false;
      await work().finally(() => {
        isAvailable = true;
      });
    },
  });
  // That case takes ten seconds with an issuer, and the verifier has no cache.
  runContract({ cases: cases.filter(({ name }) => !name.includes('memory')), leftOut });

  it('returns the subject and the issuer', async () => {
    const principal = { subject: 'gardener', issuer: 'https://issuer.example' };
    expect(await (await create()).verify(VALID_TOKEN)).to.deep.equal({ kind: 'valid', principal });
  });
});
