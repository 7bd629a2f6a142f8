/** A correct token verifier, and faults that a case must detect. */

import type { TokenVerifierHarness } from '@plant-store/contract';
import { TokenIssuerUnavailable, type TokenVerifier, type Verification } from '@plant-store/core';

const VALID_TOKEN = 'Xq7-vR2m.Zk9~Lw4+Hd8/Pb3Tn6Gc1Yf5Js0Wd7Ka4Mv2Qe9Bx8Uh3Rp6Io1Lz5Nt0Cg7Sy4Ej2Fk9Vw8Ab==';
const EXPIRED_TOKEN = 'Js0Wd7Ka4Mv2Qe9Bx8Uh3Rp6Io1Lz5Nt0Cg7Sy4Ej2Fk9Vw8AbXq7vR2mZk9Lw4';
const FOREIGN_TOKEN = 'Uh3Rp6Io1Lz5Nt0Cg7Sy4Ej2Fk9Vw8AbXq7vR2mJs0Wd7Ka4Mv2Qe9Bx8';

const INVALID: Verification = { kind: 'invalid', reason: 'unknown' };
const ISSUER = 'https://issuer.example';
const accept = (subject: string, issuer = ISSUER): Verification => ({ kind: 'valid', principal: { subject, issuer } });

/** Changes a correct `verify`. */
export type VerifierFault = (verify: TokenVerifier['verify']) => TokenVerifier['verify'];

/** Creates the harness of a verifier, by default a correct one. */
export function createHarness(fault: VerifierFault = (verify) => verify): Required<TokenVerifierHarness> {
  let isUnavailable = false;
  const verify = async (token: string): Promise<Verification> => {
    if (isUnavailable) throw new TokenIssuerUnavailable('the issuer is unavailable');
    return token === VALID_TOKEN ? accept('gardener') : INVALID;
  };
  return {
    create: async () => ({ verify: fault(verify) }),
    validToken: VALID_TOKEN,
    expiredToken: async () => EXPIRED_TOKEN,
    foreignToken: async () => FOREIGN_TOKEN,
    withIssuerUnavailable: async (work) => {
      isUnavailable = true;
      await work().finally(() => {
        isUnavailable = false;
      });
    },
  };
}

/** Name clients by a part of the token, or by the token in another order, letter case or encoding. */
export const disclosingSubjects: readonly VerifierFault[] = [
  (token: string) => `token …${token.slice(-4)}`,
  (token: string) => token.slice(10, 18),
  (token: string) => token.toLowerCase(),
  (token: string) => [...token].reverse().join(''),
  (token: string) => [...token].sort().join(''),
  (token: string) => Buffer.from(token).toString('hex'),
].map((toSubject) => (verify) => async (token) => {
  return (await verify(token)) === INVALID ? INVALID : accept(toSubject(token));
});

/** Accepts tokens that `isValid` accepts. */
const accepting =
  (isValid: (token: string) => boolean): VerifierFault =>
  (verify) =>
  (token) =>
    verify(isValid(token) ? VALID_TOKEN : token);

/** Faults of a verifier, by the case that detects each. */
export const verifierFaults: Readonly<Record<string, VerifierFault>> = {
  'returns the same subject and issuer each time, whatever a caller does with them': (verify) => {
    let calls = 0;
    return async (token) => ((await verify(token)) === INVALID ? INVALID : accept('gardener', `${ISSUER}/${++calls}`));
  },
  'rejects every part of a valid token, and an empty one': accepting((token) => VALID_TOKEN.startsWith(token)),
  'rejects a valid token inside a longer string': accepting((token) => token.trim() === VALID_TOKEN),
  'rejects a valid token in another letter case, in similar or with invisible characters': accepting(
    (token) => token.toLowerCase() === VALID_TOKEN.toLowerCase(),
  ),
  'gives a reason that reveals nothing of an invalid token': (verify) => async (token) =>
    (await verify(token)) === INVALID ? { kind: 'invalid', reason: `unknown: ${token}` } : accept('gardener'),
  'rejects an expired token': accepting((token) => token === EXPIRED_TOKEN),
  'rejects a token of another issuer': accepting((token) => token === FOREIGN_TOKEN),
  'throws TokenIssuerUnavailable, without the token, and recovers': (verify) => (token) =>
    verify(token).catch(() => INVALID),
};
