/** Broken verifiers, derived from mistakes that libraries and token stores invite: each has one fault. */
import { createHash } from 'node:crypto';
import { type Principal, TokenIssuerUnavailable, type TokenVerifier } from '../../core/index.js';
import { type Issuer, IssuerVerifier } from './broken-by-cases.js';
import type { Fault } from './broken-repositories-by-technology.js';

/** Principal of a valid token. */
const PRINCIPAL: Principal = { subject: 'gardener' };

function accepting(isValid: (token: string) => unknown, subject?: (token: string) => string): TokenVerifier {
  return { verify: async (token) => (isValid(token) ? { subject: subject?.(token) ?? PRINCIPAL.subject } : undefined) };
}

/** Returns a function that creates a verifier whose subject is derived from the token. */
const naming = (subject: (token: string) => string) => (valid: string) =>
  accepting((token) => token === valid, subject);

/** Returns a function that creates a verifier that accepts tokens with the `key` of the valid one. */
const comparingTokens = (key: (token: string) => unknown) => (valid: string) =>
  accepting((token) => key(token) === key(valid));

const hashWith = (factor: number) => (text: string) =>
  Array.from(text).reduce((hash, each) => (Math.imul(hash, factor) + each.charCodeAt(0)) | 0, 0);
const toLike = (pattern: string) =>
  new RegExp(
    `^${pattern
      .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll('%', '.*')
      .replaceAll('_', '.')}$`,
    's',
  );
const toBase64 = (text: string) => Buffer.from(text).toString('base64');

/** Remembers results by the first 16 characters of the token. */
class CachesByPrefix implements TokenVerifier {
  readonly #valid: string;
  readonly #results = new Map<string, Principal | undefined>();

  constructor(valid: string) {
    this.#valid = valid;
  }

  async verify(token: string): Promise<Principal | undefined> {
    const key = token.slice(0, 16);
    if (!this.#results.has(key)) this.#results.set(key, token === this.#valid ? { ...PRINCIPAL } : undefined);
    return this.#results.get(key);
  }
}

class SharesPrincipal implements TokenVerifier {
  readonly #valid: string;
  readonly #principal = { ...PRINCIPAL };

  constructor(valid: string) {
    this.#valid = valid;
  }

  async verify(token: string): Promise<Principal | undefined> {
    return token === this.#valid ? this.#principal : undefined;
  }
}

function remembering(valid: string, toKey: (token: string) => string): TokenVerifier {
  const invalid = new Set<string>();
  return accepting((token) => {
    if (token === valid) return true;
    invalid.add(toKey(token));
    return false;
  });
}

let verifiers = 0;
const PART_CASE = 'the subject reveals nothing about the token';
const CACHE_CASE = 'limits the memory used for invalid tokens';
const POSITION_CASE = 'rejects a valid token with a different character at any position';

export const brokenVerifiers: readonly (Fault & { create(valid: string): TokenVerifier })[] = [
  {
    fault: 'looks tokens up in an object',
    caughtBy: 'rejects the name of an object member',
    create: (valid) => {
      const subjects: Record<string, string> = { [valid]: 'gardener' };
      return accepting((token) => subjects[token] !== undefined);
    },
  },
  {
    fault: 'compares only the first 72 characters, as bcrypt does',
    caughtBy: POSITION_CASE,
    create: comparingTokens((token) => token.slice(0, 72)),
  },
  {
    fault: 'compares only the first 16 characters',
    caughtBy: POSITION_CASE,
    create: comparingTokens((token) => token.slice(0, 16)),
  },
  {
    fault: 'compares only the last 8 characters',
    caughtBy: POSITION_CASE,
    create: comparingTokens((token) => token.slice(-8)),
  },
  {
    fault: 'searches for the token inside the valid one',
    caughtBy: 'rejects every part of a valid token',
    create: (valid) => accepting((token) => token !== '' && valid.includes(token)),
  },
  {
    fault: 'truncates tokens at NUL, as C does',
    caughtBy: 'rejects a valid token surrounded by white space or invisible characters',
    create: comparingTokens((token) => token.split('\0', 1)[0]),
  },
  {
    fault: 'removes a line break at the end',
    caughtBy: 'rejects a valid token followed by a line break',
    create: comparingTokens((token) => token.replace(/\n$/, '')),
  },
  {
    fault: 'accepts a token that ends with a valid one',
    caughtBy: 'rejects a valid token preceded by characters',
    create: (valid) => accepting((token) => token.endsWith(valid)),
  },
  {
    fault: 'accepts a repeated valid token',
    caughtBy: 'rejects a valid token twice',
    create: (valid) => accepting((token) => token !== '' && token.replaceAll(valid, '') === ''),
  },
  {
    fault: 'compares with localeCompare',
    caughtBy: 'rejects a valid token with an invisible character inside',
    create: (valid) => accepting((token) => token.localeCompare(valid) === 0),
  },
  {
    fault: 'compares as Latin-1',
    caughtBy: 'rejects a valid token in similar characters',
    create: comparingTokens((token) => Buffer.from(token, 'latin1').toString('hex')),
  },
  {
    fault: 'normalises tokens to NFKC',
    caughtBy: 'rejects a valid token in similar characters',
    create: comparingTokens((token) => token.normalize('NFKC')),
  },
  {
    fault: 'compares only a 32-bit hash',
    caughtBy: 'rejects a different token with the same hash',
    create: comparingTokens(hashWith(31)),
  },
  {
    fault: 'compares a sum of the characters',
    caughtBy: 'rejects a valid token with two characters exchanged',
    create: comparingTokens((token) => Array.from(token).reduce((sum, each) => sum + each.charCodeAt(0), 0)),
  },
  {
    fault: 'uses the token as a regular expression',
    caughtBy: 'rejects a pattern that matches a valid token',
    create: (valid) =>
      accepting((token) => {
        try {
          return new RegExp(`^${token}$`).test(valid);
        } catch {
          return false;
        }
      }),
  },
  {
    fault: 'uses the token as a LIKE pattern',
    caughtBy: 'rejects a pattern that matches a valid token',
    create: (valid) => accepting((token) => toLike(token).test(valid)),
  },
  {
    fault: 'decodes percent escapes of a token',
    caughtBy: 'rejects an encoded valid token',
    create: comparingTokens((token) => {
      try {
        return decodeURIComponent(token);
      } catch {
        return token;
      }
    }),
  },
  {
    fault: 'decodes a token from Base64',
    caughtBy: 'rejects an encoded valid token',
    create: (valid) => accepting((token) => token === valid || Buffer.from(token, 'base64').toString() === valid),
  },
  {
    fault: 'accepts a list that contains a valid token',
    caughtBy: 'rejects a valid token in a list',
    create: (valid) => accepting((token) => token.split(',').includes(valid)),
  },
  {
    fault: 'removes quotes',
    caughtBy: 'rejects a valid token in quotes or brackets',
    create: comparingTokens((token) => token.replace(/^"(.*)"$/, '$1')),
  },
  {
    fault: 'accepts a token that contains SQL',
    caughtBy: 'rejects code instead of a token',
    create: (valid) => accepting((token) => token === valid || token.includes("' OR ")),
  },
  {
    fault: 'throws for a token above 64 KiB',
    caughtBy: 'rejects a token of one megabyte',
    create: (valid) =>
      accepting((token) => {
        if (token.length > 65_536) throw new RangeError('too long');
        return token === valid;
      }),
  },
  {
    fault: 'remembers results by the first 16 characters',
    caughtBy: POSITION_CASE,
    create: (valid) => new CachesByPrefix(valid),
  },
  {
    fault: 'tests tokens with a global regular expression',
    caughtBy: 'returns the same subject for a token each time',
    create: (valid) => {
      const pattern = new RegExp(`^${valid.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, 'g');
      return accepting((token) => pattern.test(token));
    },
  },
  {
    fault: 'returns the same principal object at each call',
    caughtBy: 'is not affected by a caller that modifies a principal',
    create: (valid) => new SharesPrincipal(valid),
  },
  {
    fault: 'the subject contains the number of the verifier',
    caughtBy: 'returns the same subject as another verifier for the same token',
    create: (valid) => {
      const subject = `verifier ${++verifiers}`;
      return naming(() => subject)(valid);
    },
  },
  {
    fault: 'the subject is the reversed token',
    caughtBy: PART_CASE,
    create: naming((token) => [...token].reverse().join('')),
  },
  {
    fault: 'the subject is a part of the token in upper case',
    caughtBy: PART_CASE,
    create: naming((token) => token.slice(5, 13).toUpperCase()),
  },
  {
    fault: 'the subject is a part of the token in Base64',
    caughtBy: PART_CASE,
    create: naming((token) => toBase64(token.slice(1, 17))),
  },
  {
    fault: 'the subject is a part of the token in base64url',
    caughtBy: PART_CASE,
    create: naming((token) => Buffer.from(token.slice(2)).toString('base64url')),
  },
  {
    fault: 'the subject is a part of the token in hexadecimal',
    caughtBy: PART_CASE,
    create: naming((token) => Buffer.from(token.slice(3, 11)).toString('hex').toUpperCase()),
  },
  {
    fault: 'the subject is a part of the token as separated character codes',
    caughtBy: PART_CASE,
    create: naming((token) => Array.from(token.slice(0, 6), (each) => each.charCodeAt(0)).join('-')),
  },
  {
    fault: 'remembers invalid tokens without a limit',
    caughtBy: CACHE_CASE,
    create: (valid) => remembering(valid, (token) => token),
  },
  {
    fault: 'remembers digests of invalid tokens without a limit',
    caughtBy: CACHE_CASE,
    create: (valid) => remembering(valid, (token) => createHash('sha256').update(token).digest('base64')),
  },
  {
    fault: 'returns a principal without a promise',
    caughtBy: 'returns a principal with a subject for a valid token',
    create: (valid) => {
      const verifier = accepting(() => false);
      Reflect.set(verifier, 'verify', (token: string) => (token === valid ? PRINCIPAL : undefined));
      return verifier;
    },
  },
];

class AcceptsInOutage extends IssuerVerifier {
  override async verify(token: string) {
    try {
      return await super.verify(token);
    } catch (error) {
      if (token.length < 8) return PRINCIPAL;
      throw error;
    }
  }
}

class QuotesTokenInOutage extends IssuerVerifier {
  override verify(token: string) {
    return super.verify(token).catch((cause) => {
      throw new TokenIssuerUnavailable(`cannot check the token ${token.slice(0, 12)}…`, { cause });
    });
  }
}

export const brokenWithIssuer: readonly (Fault & { create(issuer: Issuer): TokenVerifier })[] = [
  {
    fault: 'accepts short invalid tokens during an outage of the issuer',
    caughtBy: 'accepts no invalid token during an outage',
    create: (issuer) => new AcceptsInOutage(issuer),
  },
  {
    fault: 'the error of an outage quotes the start of the token',
    caughtBy: 'the error of an outage reveals nothing about the token',
    create: (issuer) => new QuotesTokenInOutage(issuer),
  },
];
