import { expect } from 'chai';
import { describe, it } from 'mocha';
import { JwtVerifier } from '../../../../adapters/driven/jwt/index.js';
import { catchError } from '../../../support/catch-error.js';
import { AUDIENCE, ISSUER, Issuer, newKey, sign } from './issuer.js';

describe('JwtVerifier reports', () => {
  it('how old its keys are, and how many fetches have failed', async () => {
    const key = await newKey();
    const issuer = await Issuer.start(key);
    const options = { issuer: ISSUER, audience: AUDIENCE, jwksUrl: issuer.jwksUrl, cooldownMs: 0 };
    const verifier = new JwtVerifier(options);
    await issuer.stop();
    for (const fetchFailures of [1, 2]) {
      await catchError(verifier.verify(await sign(key)));
      expect([verifier.keys.ageMs, verifier.keys.fetchFailures]).to.deep.equal([
        Number.POSITIVE_INFINITY,
        fetchFailures,
      ]);
    }
    await issuer.restore();
    const before = performance.now();
    await verifier.verify(await sign(key));
    expect(verifier.keys.ageMs).to.be.within(0, performance.now() - before);
    expect(verifier.keys.fetchFailures).to.equal(2);
    await issuer.stop();
  });
});
