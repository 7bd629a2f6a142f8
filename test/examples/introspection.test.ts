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

const EXAMPLE = inRepository('docs/examples/introspection/verifier.js');
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

  const contract = tokenVerifierContract({
    create: async () => {
      const { IntrospectionVerifier } = await import(EXAMPLE);
      // The contract makes a hundred calls at once, on a machine that may be busy.
      return new IntrospectionVerifier(`http://127.0.0.1:${portOf(issuer)}`, 60_000);
    },
    validToken: VALID_TOKEN,
    async withIssuerUnavailable(work) {
      isAvailable = false;
      await work().finally(() => {
        isAvailable = true;
      });
    },
  });
  runContract(contract);

  it('is the token verifier of the service, and returns the subject and the issuer', async () => {
    process.env['INTROSPECTION_URL'] = `http://127.0.0.1:${portOf(issuer)}`;
    const container = await createContainer(readConfig({}));
    const plugin = await import(EXAMPLE);
    await plugin.default(container);
    const verifier = await container.getAsync(services.TokenVerifier);
    const principal = { subject: 'gardener', issuer: 'https://issuer.example' };
    expect(await verifier.verify(VALID_TOKEN)).to.deep.equal({ kind: 'valid', principal });
  });
});
