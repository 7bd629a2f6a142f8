import type { TokenVerifier } from '../../core/index.js';
import { assertEqual, BrokenPromise, type ContractCase } from './contract.js';

/** What the cases need of an adapter. */
export interface TokenVerifierHarness {
  /** A new verifier that knows `validToken`. */
  create(): Promise<TokenVerifier>;
  /** A token with letters in it. */
  readonly validToken: string;
}

/** What every token verifier promises. */
export const tokenVerifierContract: readonly ContractCase<TokenVerifierHarness>[] = [
  {
    name: 'knows who a valid token stands for, without telling the token',
    async run(harness) {
      const verifier = await harness.create();
      const principal = await verifier.verify(harness.validToken);
      if (principal === undefined) throw new BrokenPromise('the valid token was not accepted');
      if (principal.subject === '') throw new BrokenPromise('the principal has no name');
      if (principal.subject.includes(harness.validToken)) throw new BrokenPromise('the subject holds the token');
    },
  },
  {
    name: 'gives one token the same name each time',
    async run(harness) {
      const verifier = await harness.create();
      const [first, second] = await Promise.all([
        verifier.verify(harness.validToken),
        verifier.verify(harness.validToken),
      ]);
      assertEqual(second?.subject, first?.subject, 'the second subject');
    },
  },
  nobody('an empty token', () => ''),
  nobody('another token', () => 'b3RoZXI'),
  nobody('the beginning of a valid token', (valid) => valid.slice(0, -1)),
  nobody('the end of a valid token', (valid) => valid.slice(1)),
  nobody('a valid token and one more character', (valid) => `${valid}A`),
  nobody('a valid token twice', (valid) => valid + valid),
  nobody('a valid token between blanks', (valid) => ` ${valid} `),
  nobody('a valid token in other letter case', (valid) =>
    valid === valid.toUpperCase() ? valid.toLowerCase() : valid.toUpperCase(),
  ),
  nobody('a token with characters that no token may have', () => '\0\u{1f335}\ud800\r\n'),
  nobody('a token of a megabyte', () => 'a'.repeat(2 ** 20)),
];

/** Nobody stands for what `tokenOf` makes of the valid token, and that is an answer, not an error. */
function nobody(what: string, tokenOf: (validToken: string) => string): ContractCase<TokenVerifierHarness> {
  return {
    name: `knows nobody for ${what}`,
    async run(harness) {
      const token = tokenOf(harness.validToken);
      if (token === harness.validToken) throw new TypeError('validToken must have letters');
      const verifier = await harness.create();
      assertEqual(await verifier.verify(token), undefined, 'the principal');
    },
  };
}
