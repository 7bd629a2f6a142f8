import { type Principal, TokenIssuerUnavailable, type TokenVerifier } from '../../core/index.js';
import {
  assertEqual,
  assertFunction,
  assertRejects,
  type ContractCase,
  ContractViolation,
  contractCase,
  describe,
  InvalidHarness,
  pause,
  runWithin,
} from './contract.js';
import { findGarbageCollector } from './host.js';
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
}

/** Gives the cases access to an adapter that depends on an issuer. */
export interface TokenVerifierOutageHarness extends TokenVerifierHarness {
  /** Makes the issuer unavailable, runs `work`, and restores the issuer. Rejects if `work` rejects. */
  withIssuerUnavailable(work: () => Promise<void>): Promise<void>;
}

const MIN_TOKEN_LENGTH = 12;
/** Maximum number of concurrent calls while many tokens are verified. */
const MAX_CONCURRENT_CALLS = 100;
/** Timeout of cases with many tokens, in milliseconds: an issuer may be asked about each. */
const MANY_TOKENS_TIMEOUT_MS = 120_000;

/** Maximum number of invalid tokens that fill a cache, and of further ones that check that it grows no more. */
const CACHE_TOKENS = 100_000;
/** Length of these tokens, similar to common ones. */
const INVALID_TOKEN_LENGTH = 64;
/** Maximum time for each of the two halves, in milliseconds. A verifier that asks an issuer manages fewer tokens. */
const CACHE_MS = 5000;
/** Minimum memory growth that indicates an unbounded cache: in total, and per token. */
const MIN_GROWTH_BYTES = 3_000_000;
const MIN_GROWTH_BYTES_PER_TOKEN = 30;
/** Maximum number of further garbage collections, and the pause before each in milliseconds. */
const MAX_COLLECTIONS = 4;
const COLLECTION_PAUSE_MS = 100;

/** The contract of every token verifier. */
export const tokenVerifierContract: readonly ContractCase<TokenVerifierHarness>[] = [
  verifierCase('returns a principal with a subject for a valid token', async (verifier, validToken) => {
    const promise: unknown = verifier.verify(validToken);
    if (!(promise instanceof Promise)) throw new ContractViolation('verify must return a promise');
    const { subject } = await assertAccepts(verifier, validToken);
    if (typeof subject !== 'string' || subject === '') throw new ContractViolation('the principal has no subject');
  }),

  verifierCase('the subject reveals nothing about the token', async (verifier, validToken) => {
    const principal = await assertAccepts(verifier, validToken);
    if (revealsToken(describe(principal), validToken))
      throw new ContractViolation('the subject contains a part of the token');
  }),

  verifierCase('returns the same subject for a token each time', async (verifier, validToken) => {
    const { subject } = await assertAccepts(verifier, validToken);
    const concurrent = await Promise.all([1, 2, 3].map(() => assertAccepts(verifier, validToken)));
    const sequential: Principal[] = [];
    // Detects a subject that contains the time.
    await pause(20);
    for (let turn = 0; turn < 50; turn++) sequential.push(await assertAccepts(verifier, validToken));
    for (const principal of [...concurrent, ...sequential]) assertEqual(principal.subject, subject, 'a later subject');
  }),

  contractCase('returns the same subject as another verifier for the same token', async (harness) => {
    const subjects: string[] = [];
    for (let turn = 0; turn < 2; turn++)
      subjects.push((await assertAccepts(await createVerifier(harness), harness.validToken)).subject);
    assertEqual(subjects[1], subjects[0], 'the subject of the second verifier');
  }),

  verifierCase('is not affected by a caller that modifies a principal', async (verifier, validToken) => {
    const principal = await assertAccepts(verifier, validToken);
    const { subject } = principal;
    Reflect.set(principal, 'subject', 'administrator');
    assertEqual((await assertAccepts(verifier, validToken)).subject, subject, 'a later subject');
  }),

  verifierCase('rejects another token after a valid one', async (verifier, validToken) => {
    await assertAccepts(verifier, validToken);
    assertEqual(await verifier.verify('b3RoZXI'), undefined, 'the principal');
  }),

  verifierCase('accepts a valid token after invalid ones', async (verifier, validToken) => {
    for (let turn = 0; turn < 50; turn++)
      await verifier.verify(turn % 2 === 0 ? `b3RoZXI${turn}` : `${validToken}${turn}`);
    await assertAccepts(verifier, validToken);
  }),

  ...Object.entries(INVALID_TOKENS).map(([what, derive]) =>
    verifierCase(`rejects ${what}`, async (verifier, validToken) => {
      const tokens = derive(validToken).filter((token) => token !== validToken);
      if (tokens.length === 0) throw new InvalidHarness('validToken must be random, with several different letters');
      await assertRejectsTokens(verifier, tokens);
      // A cache may confuse them with the valid token.
      await assertAccepts(verifier, validToken);
      await assertRejectsTokens(verifier, tokens);
    }),
  ),

  verifierCase('checks concurrent tokens independently', async (verifier, validToken) => {
    const others = [
      ...Array.from({ length: 60 }, (_, index) => `b3RoZXI${index}`),
      ...Object.values(INVALID_TOKENS).flatMap((derive) => derive(validToken).slice(0, 3)),
    ];
    const tokens = others.flatMap((other, index) => (index % 2 === 0 ? [validToken, other] : [other, validToken]));
    const principals = await Promise.all(tokens.map((token) => verifier.verify(token)));
    assertEqual(
      principals.map((principal) => principal !== undefined),
      tokens.map((token) => token === validToken),
      'accepted tokens',
    );
  }),

  verifierCase('limits the memory used for invalid tokens', async (verifier, validToken) => {
    const collectGarbage = findGarbageCollector();
    if (collectGarbage === undefined) return;
    await verifyMany(verifier, 'c29tZQ');
    const bytesBefore = collectGarbage();
    const tokens = await verifyMany(verifier, 'b3RoZXI');
    await assertAccepts(verifier, validToken);
    const maxGrowth = Math.max(MIN_GROWTH_BYTES, tokens * MIN_GROWTH_BYTES_PER_TOKEN);
    // V8 frees some memory in the background.
    for (let attempt = 0; collectGarbage() - bytesBefore > maxGrowth; attempt++) {
      if (attempt === MAX_COLLECTIONS)
        throw new ContractViolation(`${tokens} invalid tokens leave more than ${maxGrowth} bytes in memory`);
      await pause(COLLECTION_PAUSE_MS);
    }
  }),
];

/** Additional contract of token verifiers that depend on an issuer. */
export const tokenVerifierOutageContract: readonly ContractCase<TokenVerifierOutageHarness>[] = [
  outageCase(
    'throws TokenIssuerUnavailable while it cannot reach its issuer, and recovers afterwards',
    async (verifier, harness) => {
      for (let outage = 0; outage < 2; outage++) {
        await withOutage(harness, async () => {
          const fresh = await createVerifier(harness);
          await assertRejects('verify', TokenIssuerUnavailable, () => fresh.verify(harness.validToken));
          if (outage === 0)
            await assertRejects('verify', TokenIssuerUnavailable, () => verifier.verify(harness.validToken));
        });
        await assertAccepts(verifier, harness.validToken);
      }
    },
  ),

  outageCase('accepts no invalid token during an outage', async (verifier, harness) => {
    const tokens = Object.values(INVALID_TOKENS)
      .flatMap((derive) => derive(harness.validToken).slice(0, 3))
      .filter((token) => token !== harness.validToken);
    await withOutage(harness, async () => {
      for (const token of tokens) {
        const principal = await verifier.verify(token).catch((error: unknown) => {
          if (!(error instanceof TokenIssuerUnavailable))
            throw new ContractViolation(`verify: expected TokenIssuerUnavailable, got ${error}`);
        });
        assertEqual(principal, undefined, 'the principal of an invalid token');
      }
    });
    await assertRejectsTokens(verifier, tokens);
  }),

  outageCase('the error of an outage reveals nothing about the token', async (verifier, harness) => {
    await withOutage(harness, async () => {
      const error = await assertRejects('verify', TokenIssuerUnavailable, () => verifier.verify(harness.validToken));
      for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
        if (revealsToken(cause.message, harness.validToken))
          throw new ContractViolation(`the message of ${cause.name} contains a part of the token`);
    });
  }),
];

function verifierCase(
  name: string,
  check: (verifier: TokenVerifier, validToken: string) => Promise<void>,
): ContractCase<TokenVerifierHarness> {
  return contractCase(
    name,
    async (harness) => check(await createVerifier(harness), harness.validToken),
    MANY_TOKENS_TIMEOUT_MS,
  );
}

function outageCase(
  name: string,
  check: (verifier: TokenVerifier, harness: TokenVerifierOutageHarness) => Promise<void>,
): ContractCase<TokenVerifierOutageHarness> {
  return contractCase(
    name,
    async (harness) => {
      assertFunction(harness, 'withIssuerUnavailable');
      await check(await createVerifier(harness), harness);
    },
    MANY_TOKENS_TIMEOUT_MS,
  );
}

function withOutage(harness: TokenVerifierOutageHarness, work: () => Promise<void>): Promise<void> {
  return runWithin('withIssuerUnavailable', (inner) => harness.withIssuerUnavailable(inner), work);
}

async function createVerifier(harness: TokenVerifierHarness): Promise<TokenVerifier> {
  assertFunction(harness, 'create');
  const { validToken } = harness;
  if (
    typeof validToken !== 'string' ||
    validToken.length < MIN_TOKEN_LENGTH ||
    !/^[!-~]*[a-z][!-~]*$/i.test(validToken)
  )
    throw new InvalidHarness(`validToken must have at least ${MIN_TOKEN_LENGTH} ASCII characters, with letters`);
  const verifier = await harness.create();
  if (typeof verifier?.verify !== 'function')
    throw new InvalidHarness('create() must resolve to a TokenVerifier, but it has no verify()');
  return verifier;
}

async function assertAccepts(verifier: TokenVerifier, validToken: string): Promise<Principal> {
  const principal = await verifier.verify(validToken);
  if (principal) return principal;
  throw new ContractViolation('the valid token was rejected (or create() does not know the validToken of the harness)');
}

async function assertRejectsTokens(verifier: TokenVerifier, tokens: readonly string[]): Promise<void> {
  for (let start = 0; start < tokens.length; start += MAX_CONCURRENT_CALLS)
    await Promise.all(
      tokens.slice(start, start + MAX_CONCURRENT_CALLS).map(async (token, index) => {
        const principal: unknown = await verifier.verify(token).catch((error: unknown) => {
          throw new ContractViolation(`verify threw ${error} for an invalid token; expected undefined`);
        });
        if (principal !== undefined)
          throw new ContractViolation(
            `expected undefined for invalid token ${start + index} of ${tokens.length}, got ${describe(principal)}`,
          );
      }),
    );
}

/** Verifies many different invalid tokens, as long as there is time, and returns their number. */
async function verifyMany(verifier: TokenVerifier, prefix: string): Promise<number> {
  const deadline = Date.now() + CACHE_MS;
  let tokens = 0;
  while (tokens < CACHE_TOKENS && Date.now() < deadline) {
    const first = tokens;
    tokens += MAX_CONCURRENT_CALLS;
    await Promise.all(
      Array.from({ length: MAX_CONCURRENT_CALLS }, (_, index) =>
        verifier.verify(`${prefix}${first + index}`.padEnd(INVALID_TOKEN_LENGTH, '.')),
      ),
    );
  }
  return tokens;
}
