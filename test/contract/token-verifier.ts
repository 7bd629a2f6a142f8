import { isPlantStoreError, type Principal, type TokenVerifier } from '../../core/index.js';
import {
  assertEqual,
  assertFunction,
  assertRejects,
  ContractViolation,
  contractCase,
  describe,
  type HarnessCase,
  InvalidHarness,
  pause,
  runWithin,
} from './contract.js';
import { findGarbageCollector } from './host.js';
import { INVALID_TOKENS, revealsToken, toUnsigned } from './tokens.js';

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
  withIssuerUnavailable?(work: () => Promise<void>): Promise<void>;
  /** For tokens that expire: resolves to a token that was valid before. */
  expiredToken?(): Promise<string>;
  /** For an issuer with keys: resolves to a token like the valid one, but of another issuer, with its keys. */
  foreignToken?(): Promise<string>;
}

type HarnessWith<Member extends keyof TokenVerifierHarness> = TokenVerifierHarness &
  Required<Pick<TokenVerifierHarness, Member>>;

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

/** Cases for every token verifier. */
export const verifierCases: readonly HarnessCase<TokenVerifierHarness>[] = [
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

  verifierCase(
    'returns the same subject for a token each time, whatever a caller does with it',
    async (verifier, validToken) => {
      const principal = await assertAccepts(verifier, validToken);
      const { subject } = principal;
      Reflect.set(principal, 'subject', 'administrator');
      const concurrent = await Promise.all([1, 2, 3].map(() => assertAccepts(verifier, validToken)));
      const sequential: Principal[] = [];
      // Detects a subject that contains the time.
      await pause(20);
      for (let turn = 0; turn < 50; turn++) sequential.push(await assertAccepts(verifier, validToken));
      for (const later of [...concurrent, ...sequential]) assertEqual(later.subject, subject, 'a later subject');
    },
  ),

  contractCase('returns the same subject as another verifier for the same token', async (harness) => {
    const subjects: string[] = [];
    for (let turn = 0; turn < 2; turn++)
      subjects.push((await assertAccepts(await createVerifier(harness), harness.validToken)).subject);
    assertEqual(subjects[1], subjects[0], 'the subject of the second verifier');
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
    const others = Array.from({ length: 60 }, (_, index) => `b3RoZXI${index}`);
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

/** Cases for every token verifier. They check nothing if the valid token is not a JSON Web Token. */
export const jwtCases: readonly HarnessCase<TokenVerifierHarness>[] = [
  verifierCase('rejects a valid JSON Web Token with the algorithm none', async (verifier, validToken) => {
    await assertRejectsTokens(verifier, toUnsigned(validToken));
    await assertAccepts(verifier, validToken);
  }),
];

/** Cases for token verifiers whose tokens expire. */
export const expiryCases: readonly HarnessCase<HarnessWith<'expiredToken'>>[] = [
  contractCase('rejects an expired token', (harness) => assertRejectsToken(harness, () => harness.expiredToken())),
];

/** Cases for token verifiers that accept the tokens of one issuer. */
export const foreignTokenCases: readonly HarnessCase<HarnessWith<'foreignToken'>>[] = [
  contractCase('rejects a token of another issuer', (harness) =>
    assertRejectsToken(harness, () => harness.foreignToken()),
  ),
];

/** Cases for token verifiers that depend on an issuer. */
export const issuerOutageCases: readonly HarnessCase<HarnessWith<'withIssuerUnavailable'>>[] = [
  verifierCase(
    'throws TokenIssuerUnavailable, without the token, while it cannot reach its issuer, and recovers',
    async (verifier, validToken, harness) => {
      for (let outage = 0; outage < 2; outage++) {
        await withOutage(harness, async () => {
          const fresh = await createVerifier(harness);
          await assertIssuerUnavailable(fresh, validToken);
          if (outage === 0) await assertIssuerUnavailable(verifier, validToken);
        });
        await assertAccepts(verifier, validToken);
      }
    },
  ),

  verifierCase('accepts no invalid token during an outage', async (verifier, validToken, harness) => {
    const tokens = Object.values(INVALID_TOKENS)
      .flatMap((derive) => derive(validToken).slice(0, 6))
      .filter((token) => token !== validToken);
    await withOutage(harness, async () => {
      for (const token of tokens) {
        const principal = await verifier.verify(token).catch((error: unknown) => {
          if (!isPlantStoreError(error, 'TOKEN_ISSUER_UNAVAILABLE'))
            throw new ContractViolation(`verify: expected TokenIssuerUnavailable, got ${error}`);
        });
        assertEqual(principal, undefined, 'the principal of an invalid token');
      }
    });
    await assertRejectsTokens(verifier, tokens);
  }),
];

/** Creates a case for a verifier that the harness creates. */
function verifierCase<Harness extends TokenVerifierHarness>(
  name: string,
  check: (verifier: TokenVerifier, validToken: string, harness: Harness) => Promise<void>,
): HarnessCase<Harness> {
  return contractCase(
    name,
    async (harness) => check(await createVerifier(harness), harness.validToken, harness),
    MANY_TOKENS_TIMEOUT_MS,
  );
}

function withOutage(harness: HarnessWith<'withIssuerUnavailable'>, work: () => Promise<void>): Promise<void> {
  assertFunction(harness, 'withIssuerUnavailable');
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

async function assertRejectsToken(harness: TokenVerifierHarness, getToken: () => Promise<string>): Promise<void> {
  const verifier = await createVerifier(harness);
  await assertAccepts(verifier, harness.validToken);
  await assertRejectsTokens(verifier, [await getToken()]);
}

async function assertIssuerUnavailable(verifier: TokenVerifier, token: string): Promise<void> {
  const error = await assertRejects('verify', 'TOKEN_ISSUER_UNAVAILABLE', () => verifier.verify(token));
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause)
    if (revealsToken(cause.message, token))
      throw new ContractViolation(`the message of ${cause.name} contains a part of the token`);
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
