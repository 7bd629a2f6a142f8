// A plugin that asks an issuer about each token (RFC 7662).

import { TokenIssuerUnavailable } from '@plant-store/core';
import { services } from 'plant-store';

export class IntrospectionVerifier {
  #url;
  #timeoutMs;

  constructor(url, timeoutMs = 5000) {
    this.#url = url;
    this.#timeoutMs = timeoutMs;
  }

  async verify(token) {
    const signal = AbortSignal.timeout(this.#timeoutMs);
    try {
      const response = await fetch(this.#url, { method: 'POST', body: new URLSearchParams({ token }), signal });
      if (!response.ok) throw new Error(`status ${response.status}`);
      const { active, sub, iss = 'introspection' } = await response.json();
      return active && sub
        ? { kind: 'valid', principal: { subject: `${sub}`, issuer: `${iss}` } }
        : { kind: 'invalid', reason: 'inactive' };
    } catch (cause) {
      throw new TokenIssuerUnavailable('the issuer does not respond', { cause });
    }
  }
}

export default (container) => {
  const verifier = new IntrospectionVerifier(process.env.INTROSPECTION_URL);
  container.rebind(services.TokenVerifier).toConstantValue(verifier);
};
