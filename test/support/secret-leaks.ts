import type { HttpResponse } from '#contract/http/connection.js';

/**
 * A secret. Tests put it into tokens, passwords, plants, bodies, headers and queries; no response and no line on
 * standard error may contain it.
 */
export const CANARY = 'canary-4711';
const LEAK = /canary/i;
/** Matches a stack frame or a file path. */
const INTERNALS = /\bat .{0,200}:\d+:\d+|node_modules|\/dist\//;

/** The leaks found so far. */
export const leaks: string[] = [];

/** Checks a response for leaks. The body of a 200 may contain the client's own plant. */
export function checkResponse({ status, headers, body }: HttpResponse): void {
  const text = [...Object.entries(headers).flat(), status === 200 ? '' : body].join('\n');
  if (LEAK.test(text) || INTERNALS.test(text)) leaks.push(`response: ${text}`);
}

/** Checks the output of a program for canaries on standard error and for its tokens and password on both streams. */
export function checkOutput(
  { stdout, stderr }: Readonly<Record<'stdout' | 'stderr', string>>,
  { ACCESS_TOKENS = '', DATABASE_URL = '' }: Readonly<Record<string, string>>,
): void {
  const password = URL.canParse(DATABASE_URL) ? new URL(DATABASE_URL).password : '';
  const tokens = ACCESS_TOKENS.split(',').map((entry) => entry.replace(/^[\w.@-]+=/, ''));
  // Ordinary output may contain shorter ones by chance.
  const secrets = [...tokens, password].filter(({ length }) => length >= 8);
  const hasSecret = (line: string) => secrets.some((secret) => line.includes(secret));
  leaks.push(...stderr.split('\n').filter((line) => LEAK.test(line) || hasSecret(line)));
  leaks.push(...stdout.split('\n').filter(hasSecret));
}
