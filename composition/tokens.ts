import { readFileSync } from 'node:fs';
import { assertTokens, InvalidTokenList, parseTokens } from '../adapters/static-token/index.js';
import type { Config } from './config.js';

/** A file of tokens, and its tokens when it was read. */
export interface TokensFile {
  readonly path: string;
  readonly tokens: readonly string[];
}

/** Returns the static tokens of the configuration. */
export function configuredTokens({ accessTokens = [], accessTokensFile }: Config): readonly string[] {
  return [...accessTokens, ...(accessTokensFile?.tokens ?? [])];
}

/** @throws {InvalidTokenList} The file cannot be read, contains no token, or contains an invalid one. */
export function readTokensFile(path: string): TokensFile {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new InvalidTokenList(`the file cannot be read (${error instanceof Error && 'code' in error && error.code})`);
  }
  const tokens = parseTokens(text);
  if (tokens.length === 0) throw new InvalidTokenList('the file contains no token');
  assertTokens(tokens);
  return { path, tokens };
}
