import { isTokenIssuerUnavailable, type Principal, type TokenVerifier, type Verification } from '@plant-store/core';
import { assertEqual, assertRejects, type Cases, ContractViolation, describe, pause, runDuring } from './contract.js';
import { INVALID_TOKENS, revealsToken } from './tokens.js';

/** Gives the cases access to an adapter. */
export interface TokenVerifierHarness {
  /** Creates a verifier that accepts `validToken`. */
  create(): Promise<TokenVerifier>;
  /**
   * A random token of at least twelve ASCII characters, with letters, that shares no words with a subject. Use 80 or more
   * if the adapter accepts them: bcrypt, for example, compares only 72.
   */
  readonly validToken: string;
  /** For a verifier that depends on an issuer: makes it unavailable, runs `work`, and restores it. Rejects if `work` does. */
  withIssuerUnavailable?(work: () => Promise<unknown>): Promise<unknown>;
  /** For tokens that expire: resolves to a token that was valid before. */
  expiredToken?(): Promise<string>;
  /** For an issuer with keys: resolves to a token like the valid one, but of another issuer, with its keys. */
  foreignToken?(): Promise<string>;
}

/** What a case gets. `verifier` is one that the harness created. */
type TestVerifier = Readonly<{ harness: TokenVerifierHarness; verifier: TokenVerifier; validToken: string }>;

/** Maximum number of concurrent calls while many tokens are verified. */
const MAX_CONCURRENT_CALLS = 100;

/** Cases for every token verifier. */
export const verifierCases: Cases<TestVerifier> = {
  'returns a principal for a valid token, which reveals nothing of it': async ({ verifier, validToken }) => {
    if (!(verifier.verify(validToken) instanceof Promise)) throw new ContractViolation('verify must return a promise');
    const principal = await assertAccepts(verifier, validToken);
    const { subject, issuer = 'none' } = principal;
    if (typeof subject !== 'string' || subject === '') throw new ContractViolation('the principal has no subject');
    if (typeof issuer !== 'string' || issuer === '')
      throw new ContractViolation('the issuer of a principal must be a string, or absent');
    if (revealsToken(describe(principal), validToken))
      throw new ContractViolation('the principal contains a part of the token');
  },

  'returns the same subject and issuer each time, whatever a caller does with them': async (context) => {
    const { harness, verifier, validToken } = context;
    const principal = await assertAccepts(verifier, validToken);
    const expected = [principal.subject, principal.issuer];
    for (const member of ['subject', 'issuer']) Reflect.set(principal, member, 'administrator');
    const later = await Promise.all([1, 2, 3].map(() => assertAccepts(verifier, validToken)));
    // Detects a subject that contains the time.
    await pause(20);
    for (let turn = 0; turn < 50; turn++) later.push(await assertAccepts(verifier, validToken));
    later.push(await assertAccepts(await harness.create(), validToken));
    for (const { subject, issuer } of later)
      assertEqual([subject, issuer], expected, 'a later subject and issuer, perhaps of another verifier');
  },

  ...Object.fromEntries(Object.entries(INVALID_TOKENS).map(([name, derive]) => [name, rejectsDerived(derive)])),

  'gives a reason that reveals nothing of an invalid token': async ({ verifier, validToken }) => {
    const verification = await verifier.verify(`${validToken}x`);
    if (verification?.kind === 'invalid' && revealsToken(`${verification.reason}`, validToken))
      throw new ContractViolation('the reason contains a part of the token');
  },

  'checks concurrent tokens independently': async ({ verifier, validToken }) => {
    const others = Array.from({ length: 60 }, (_, index) => `b3RoZXI${index}`.padEnd(validToken.length, '.'));
    const tokens = others.flatMap((other, index) => (index % 2 === 0 ? [validToken, other] : [other, validToken]));
    const verifications = await Promise.all(tokens.map((token) => verifier.verify(token)));
    for (const [index, { kind }] of verifications.entries())
      assertEqual(kind === 'valid', tokens[index] === validToken, 'whether a concurrent token was accepted');
  },
};

/** Cases for token verifiers whose tokens expire. */
export const expiryCases: Cases<TestVerifier> = { 'rejects an expired token': rejectsTokenOf('expiredToken') };

/** Cases for token verifiers that accept the tokens of one issuer. */
export const foreignTokenCases: Cases<TestVerifier> = {
  'rejects a token of another issuer': rejectsTokenOf('foreignToken'),
};

/** Cases for token verifiers that depend on an issuer. */
export const issuerOutageCases: Cases<TestVerifier> = {
  'throws TokenIssuerUnavailable, without the token, and recovers': async ({ harness, verifier, validToken }) => {
    const assertUnavailable = async (unavailable: TokenVerifier) => {
      const verify = () => unavailable.verify(validToken);
      const error = await assertRejects('verify', isTokenIssuerUnavailable, verify);
      for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
        if (revealsToken(cause.message, validToken))
          throw new ContractViolation(`the message of ${cause.name} contains a part of the token`);
    };
    for (let outage = 0; outage < 2; outage++) {
      await runDuring(harness, 'withIssuerUnavailable', async () => {
        await assertUnavailable(await harness.create());
        // In the second outage, the verifier may remember the token.
        if (outage === 0) await assertUnavailable(verifier);
      });
      await assertAccepts(verifier, validToken);
    }
  },

  'accepts no invalid token': async ({ harness, verifier, validToken }) => {
    const tokens = Object.values(INVALID_TOKENS)
      .flatMap((derive) => derive(validToken).slice(0, 6))
      .filter((token) => token !== validToken);
    await runDuring(harness, 'withIssuerUnavailable', () => assertRejectsTokens(verifier, tokens, true));
    await assertRejectsTokens(verifier, tokens);
  },
};

/** Creates a verifier and runs a case with it. */
export async function useVerifier(
  harness: TokenVerifierHarness,
  check: (context: TestVerifier) => Promise<unknown>,
): Promise<void> {
  await check({ harness, verifier: await harness.create(), validToken: harness.validToken });
}

async function assertAccepts(verifier: TokenVerifier, validToken: string): Promise<Principal> {
  const verification = await verifier.verify(validToken);
  if (verification?.kind === 'valid') return verification.principal;
  throw new ContractViolation('the valid token was rejected (or create() does not know the validToken of the harness)');
}

/** Asserts that `verify` resolves to `invalid` for each token, or during an outage throws TokenIssuerUnavailable. */
async function assertRejectsTokens(verifier: TokenVerifier, tokens: readonly string[], isOutage = false) {
  const assertInvalid = async (token: string) => {
    const verification = await verifier.verify(token).catch((error: unknown): Verification => {
      if (isOutage && isTokenIssuerUnavailable(error)) return { kind: 'invalid' };
      throw new ContractViolation(`verify must resolve to invalid for an invalid token, but it threw ${error}`);
    });
    if (verification?.kind !== 'invalid')
      throw new ContractViolation(`expected kind 'invalid' for ${describe(token)}, got ${describe(verification)}`);
  };
  for (let start = 0; start < tokens.length; start += MAX_CONCURRENT_CALLS)
    await Promise.all(tokens.slice(start, start + MAX_CONCURRENT_CALLS).map(assertInvalid));
}

/** Returns a case for tokens that are derived from the valid one. */
function rejectsDerived(derive: (valid: string) => readonly string[]) {
  return async ({ verifier, validToken }: TestVerifier) => {
    const tokens = derive(validToken).filter((token) => token !== validToken);
    await assertRejectsTokens(verifier, tokens);
    // A cache may confuse them with the valid token.
    await assertAccepts(verifier, validToken);
    await assertRejectsTokens(verifier, tokens);
  };
}

/** Returns a case for a token of the harness. */
function rejectsTokenOf(name: 'expiredToken' | 'foreignToken') {
  return async ({ harness, verifier, validToken }: TestVerifier) => {
    await assertAccepts(verifier, validToken);
    await assertRejectsTokens(verifier, [`${await harness[name]?.()}`]);
  };
}
