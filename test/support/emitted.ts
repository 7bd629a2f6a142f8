import { expect } from 'chai';
import { after } from 'mocha';

/**
 * What tests plant where it must never come out again: in tokens, passwords, texts of plants, bodies, headers, queries.
 * Every answer of every test, and every line that a program wrote to standard error, is looked through for it.
 */
export const CANARY = /canary/i;
/** A frame of a stack, or a path of the machine. */
const INNARDS = /\bat .{0,200}:\d+:\d+|node_modules|\/dist\//;
/** Shorter secrets stand in ordinary sentences. */
const SECRET_LENGTH_MIN = 8;

const leaks: string[] = [];

after('nothing that tests planted came out, in all these tests', () => {
  expect(leaks).to.deep.equal([]);
});

/** Looks through an answer. What a client is told of a plant that it created is its own. */
export function lookThroughAnswer(status: number, head: string, body: string): void {
  const text = status === 200 ? head : head + body;
  if (CANARY.test(text) || INNARDS.test(text)) leaks.push(`answer: ${head}${body}`);
}

/** Looks through what a program wrote: neither a canary, nor a token or password that it was given. */
export function lookThroughOutput(
  { stdout, stderr }: { readonly stdout: string; readonly stderr: string },
  environment: Readonly<Record<string, string>>,
): void {
  if (CANARY.test(stderr)) leaks.push(`standard error: ${linesWith(stderr, CANARY)}`);
  for (const secret of secretsOf(environment)) {
    if (`${stdout}\n${stderr}`.includes(secret))
      leaks.push(`the secret ${secret}: ${linesWith(stdout + stderr, secret)}`);
  }
}

function secretsOf({ ACCESS_TOKENS = '', DATABASE_URL = '' }: Readonly<Record<string, string>>): string[] {
  const password = URL.canParse(DATABASE_URL) ? new URL(DATABASE_URL).password : '';
  return [...ACCESS_TOKENS.split(','), password].filter((secret) => secret.length >= SECRET_LENGTH_MIN);
}

function linesWith(text: string, what: RegExp | string): string {
  return text
    .split('\n')
    .filter((line) => (typeof what === 'string' ? line.includes(what) : what.test(line)))
    .slice(0, 3)
    .join('\n');
}
