/** A correct token verifier, and faults that a case must detect. */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { TokenIssuerUnavailable, type TokenVerifier } from '../../core/index.js';
import type { Faults } from './repositories.js';

/** A realistic token, longer than the 72 bytes that bcrypt compares. */
export const TOKEN = 'Xq7-vR2m.Zk9~Lw4+Hd8/Pb3Tn6Gc1Yf5Js0Wd7Ka4Mv2Qe9Bx8Uh3Rp6Io1Lz5Nt0Cg7Sy4Ej2Fk9Vw8Ab==';
export const EXPIRED_TOKEN = 'Js0Wd7Ka4Mv2Qe9Bx8Uh3Rp6Io1Lz5Nt0Cg7Sy4Ej2Fk9Vw8AbXq7vR2mZk9Lw4';
export const FOREIGN_TOKEN = 'Uh3Rp6Io1Lz5Nt0Cg7Sy4Ej2Fk9Vw8AbXq7vR2mJs0Wd7Ka4Mv2Qe9Bx8';
/** A JSON Web Token. */
export const JWT: string = [{ alg: 'ES256', typ: 'JWT' }, { sub: 'Pb3Tn6Gc1Yf5', exp: 4_102_444_800 }, { signed: true }]
  .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
  .join('.');

const headerOf = (token: string): { alg?: string } => {
  try {
    return JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString());
  } catch {
    return {};
  }
};
const payloadOf = (token: string) => token.split('.')[1];

/** Issuer that can become unavailable. */
export interface Issuer {
  readonly validToken: string;
  isUnavailable: boolean;
}

/** A correct verifier. */
export function createVerifier(issuer: Issuer): TokenVerifier {
  return {
    verify: async (token) => {
      if (issuer.isUnavailable) throw new TokenIssuerUnavailable('the issuer is unavailable');
      return token === issuer.validToken ? { subject: 'gardener' } : undefined;
    },
  };
}

/** Replaces a correct verifier. */
export type VerifierFault = (correct: TokenVerifier, issuer: Issuer) => TokenVerifier;

/** Accepts more tokens than the valid one. */
const accepting =
  (isValid: (token: string, validToken: string) => boolean): VerifierFault =>
  ({ verify }, { validToken }) => ({ verify: (token) => verify(isValid(token, validToken) ? validToken : token) });

/** Accepts tokens that are the valid one after a change. */
const changing = (change: (token: string) => string): VerifierFault =>
  accepting((token, validToken) => change(token) === validToken);

/** Accepts tokens with the same key. */
const comparing = (key: (token: string) => string): VerifierFault =>
  accepting((token, validToken) => key(token) === key(validToken));

/** Derives the subject from the token. */
const naming =
  (toSubject: (token: string) => string): VerifierFault =>
  ({ verify }) => ({
    verify: async (token) => (await verify(token)) && { subject: toSubject(token) },
  });

const hash = (text: string) =>
  Array.from(text).reduce((sum, character) => (Math.imul(sum, 31) + character.charCodeAt(0)) | 0, 0);

const decodeUri = (text: string) => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

let verifiers = 0;

const verifierFaults: Faults<VerifierFault> = {
  'returns a principal with a subject for a valid token': {
    'the subject is empty': naming(() => ''),
  },
  'the subject reveals nothing about the token': {
    'the subject ends with the end of the token': naming((token) => `token …${token.slice(-4)}`),
    'the subject is the reversed token': naming((token) => [...token].reverse().join('')),
    'the subject is a part of the token in Base64': naming((token) => btoa(token.slice(1, 17))),
    'the subject is a part of the token in base64url': naming((token) =>
      Buffer.from(token.slice(2)).toString('base64url'),
    ),
    'the subject is a part of the token in hexadecimal': naming((token) =>
      Buffer.from(token.slice(3, 11)).toString('hex').toUpperCase(),
    ),
    'the subject is a part of the token as character codes': naming((token) =>
      Array.from(token.slice(0, 6), (each) => each.charCodeAt(0)).join('-'),
    ),
  },
  'returns the same subject for a token each time, whatever a caller does with it': {
    'the subject of later calls is another': (correct, issuer) => {
      let calls = 0;
      return naming(() => `call ${Math.min(calls++, 1)}`)(correct, issuer);
    },
    'returns the same object at each call': ({ verify }) => {
      const principal = { subject: 'gardener' };
      return { verify: async (token) => (await verify(token)) && principal };
    },
  },
  'returns the same subject as another verifier for the same token': {
    'the subject contains the number of the verifier': (correct, issuer) => {
      const subject = `verifier ${++verifiers}`;
      return naming(() => subject)(correct, issuer);
    },
  },
  'rejects another token': {
    'accepts "undefined", the string of a missing setting': accepting((token) => token === 'undefined'),
  },
  'rejects every part of a valid token, also an empty one': {
    'accepts a token without its last part': accepting(
      (token, validToken) => token === validToken.slice(0, validToken.lastIndexOf('.') + 1),
    ),
    'accepts the start of a token': accepting((token, validToken) => token !== '' && validToken.startsWith(token)),
    'accepts an empty token': accepting((token) => token === ''),
  },
  'rejects a valid token inside a longer string': {
    'trims the token': changing((token) => token.trim()),
    'truncates the token at NUL': changing((token) => token.replace(/\0.*/, '')),
    'accepts a list with a valid token': accepting((token, validToken) => token.split(',').includes(validToken)),
    'accepts a token with its scheme': changing((token) => token.replace(/^Bearer /i, '')),
    'removes quotes': changing((token) => token.replace(/^"(.*)"$/, '$1')),
    'accepts a token that ends with a valid one': accepting((token, validToken) => token.endsWith(validToken)),
    'accepts a repeated token': accepting(
      (token, validToken) => token !== '' && token.replaceAll(validToken, '') === '',
    ),
  },
  'rejects a valid token with one or two characters changed': {
    'compares the length and both ends': comparing((token) => token.slice(0, 8) + token.length + token.slice(-8)),
    'compares the length and a 32-bit hash': comparing((token) => `${token.length} ${hash(token)}`),
    'compares the length and the set of characters': comparing((token) => `${token.length} ${[...token].sort()}`),
  },
  'rejects a valid token in a different letter case': {
    'ignores letter case': comparing((token) => token.toLowerCase()),
  },
  'rejects a valid token in similar or with invisible characters': {
    'compares as Latin-1': comparing((token) => Buffer.from(token, 'latin1').toString('hex')),
    'normalises tokens to NFKC': comparing((token) => token.normalize('NFKC')),
    'removes soft hyphens inside': changing((token) => token.replace(/(?<=.)\u00ad(?=.)/g, '')),
  },
  'rejects an encoded valid token': {
    'decodes percent escapes': changing(decodeUri),
    'decodes Base64': changing((token) => Buffer.from(token, 'base64').toString()),
  },
  'rejects a pattern that matches a valid token, or code': {
    'accepts a token with * as a pattern': accepting(
      (token, validToken) => /^[^*]{2,}\*$/.test(token) && validToken.startsWith(token.slice(0, -1)),
    ),
    'accepts SQL': accepting((token) => token.includes("' OR ")),
  },
  'rejects the name of an object member': {
    'looks tokens up in an object': accepting((token) => token in {}),
  },
  'rejects a token with forbidden characters': {
    'throws for a lone surrogate': ({ verify }) => ({
      verify: async (token) => {
        encodeURIComponent(token);
        return verify(token);
      },
    }),
  },
  'rejects a token of one megabyte': {
    'throws for a token above 64 KiB': ({ verify }) => ({
      verify: async (token) => {
        if (token.length > 65_536) throw new RangeError('too long');
        return verify(token);
      },
    }),
  },
  'checks concurrent tokens independently': {
    'gives concurrent calls the result of the last one': ({ verify }) => {
      let last = '';
      return {
        verify: async (token) => {
          last = token;
          await nextTurn();
          return verify(last);
        },
      };
    },
  },
  'limits the memory used for invalid tokens': {
    'remembers digests of invalid tokens without a limit': ({ verify }) => {
      const invalid = new Set<string>();
      return {
        verify: async (token) => {
          const principal = await verify(token);
          if (!principal) invalid.add(createHash('sha256').update(token).digest('base64'));
          return principal;
        },
      };
    },
  },
};

const unsigned = (alg: string): VerifierFault =>
  accepting((token, validToken) => headerOf(token).alg === alg && payloadOf(token) === payloadOf(validToken));

const jwtFaults: Faults<VerifierFault> = {
  'rejects a valid JSON Web Token with the algorithm none': {
    'accepts the algorithm none': unsigned('none'),
    'accepts the algorithm None': unsigned('None'),
    'accepts a valid token without its signature if the header lacks an algorithm': accepting((token, validToken) => {
      const [, , signature] = token.split('.');
      return signature === '' && headerOf(token).alg === '' && payloadOf(token) === payloadOf(validToken);
    }),
  },
};

const expiryFaults: Faults<VerifierFault> = {
  'rejects an expired token': { 'ignores the expiry': accepting((token) => token === EXPIRED_TOKEN) },
};

const foreignTokenFaults: Faults<VerifierFault> = {
  'rejects a token of another issuer': { 'accepts any issuer': accepting((token) => token === FOREIGN_TOKEN) },
};

const issuerFaults: Faults<VerifierFault> = {
  'throws TokenIssuerUnavailable, without the token, while it cannot reach its issuer, and recovers': {
    'returns undefined during an outage': ({ verify }, issuer) => ({
      verify: async (token) => (issuer.isUnavailable ? undefined : verify(token)),
    }),
    'the error of an outage quotes the start of the token': ({ verify }) => ({
      verify: (token) =>
        verify(token).catch((cause) => {
          throw new TokenIssuerUnavailable(`cannot check ${token.slice(0, 12)}…`, { cause });
        }),
    }),
    'remembers that the issuer was unavailable when the token was valid': ({ verify }, { validToken }) => {
      let failure: unknown;
      return {
        verify: async (token) => {
          if (failure !== undefined && token === validToken) throw failure;
          return verify(token).catch((error) => {
            failure = error;
            throw error;
          });
        },
      };
    },
  },
  'accepts no invalid token during an outage': {
    'accepts short tokens during an outage': ({ verify }, issuer) => ({
      verify: async (token) => (issuer.isUnavailable && token.length < 8 ? { subject: 'gardener' } : verify(token)),
    }),
  },
};

/** Faults by the group of their cases. */
export const tokenVerifierFaults: Readonly<Record<string, Faults<VerifierFault>>> = {
  'every verifier': verifierFaults,
  'JSON Web Tokens': jwtFaults,
  expiry: expiryFaults,
  'other issuers': foreignTokenFaults,
  'outages of the issuer': issuerFaults,
};
