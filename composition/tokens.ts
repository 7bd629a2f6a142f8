import { readFileSync } from 'node:fs';
import { InvalidTokenList, StaticTokenVerifier, tokensOfFile } from '../adapters/static-token/index.js';
import type { Config } from './config.js';

/**
 * The tokens of the configuration, those of its file as it is now.
 *
 * @throws {InvalidTokenList} when the file cannot be read or used
 */
export function tokensOf({ accessTokens = [], accessTokensFile }: Config): readonly string[] {
  return accessTokensFile === undefined ? accessTokens : [...accessTokens, ...readTokensFile(accessTokensFile)];
}

/** @throws {InvalidTokenList} when the file cannot be read, is empty, or holds something that is no token */
export function readTokensFile(path: string): readonly string[] {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new InvalidTokenList(`the file cannot be read (${code})`);
  }
  const tokens = tokensOfFile(text);
  if (tokens.length === 0) throw new InvalidTokenList('the file holds no token');
  new StaticTokenVerifier(tokens);
  return tokens;
}
