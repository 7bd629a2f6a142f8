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

const example = await import(inRepository('docs/examples/introspection/verifier.js'));

describe('The introspection example', () => {
  const validToken = 'Correct-horse.battery~staple+/9';
  let status = 200;
  const issuer = createServer(async (req, res) => {
    const active = new URLSearchParams(await text(req)).get('token') === validToken;
    res.writeHead(status).end(JSON.stringify({ active, sub: 'gardener', iss: 'https://issuer.example' }));
  });
  const url = () => `http://127.0.0.1:${portOf(issuer)}`;
  before(() => once(issuer.listen(0, '127.0.0.1'), 'listening'));
  after(() => issuer.close());

  const contract = tokenVerifierContract({
    // The contract makes a hundred calls at once, on a machine that may be busy.
    create: async () => new example.IntrospectionVerifier(url(), 60_000),
    validToken,
    async withIssuerUnavailable(work) {
      status = 503;
      await work().finally(() => {
        status = 200;
      });
    },
  });
  runContract(contract);

  it('is the token verifier of the service, and returns the subject and the issuer', async () => {
    process.env['INTROSPECTION_URL'] = url();
    const container = await createContainer(readConfig({}));
    await example.default(container);
    const verifier = await container.getAsync(services.TokenVerifier);
    const principal = { subject: 'gardener', issuer: 'https://issuer.example' };
    expect(await verifier.verify(validToken)).to.deep.equal({ kind: 'valid', principal });
  });
});
