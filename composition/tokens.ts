import { readFileSync, statSync } from 'node:fs';
import { assertTokens, InvalidTokenList, tokensOfFile } from '../adapters/static-token/index.js';
import type { Config } from './config.js';

/** A file of tokens, and what it held when it was read. */
export interface TokensFile {
  readonly path: string;
  readonly tokens: readonly string[];
}

/** All tokens of the configuration. */
export function tokensOf({ accessTokens = [], accessTokensFile }: Config): readonly string[] {
  return [...accessTokens, ...(accessTokensFile?.tokens ?? [])];
}

/**
 * The tokens of the configuration with those of its file as it is now.
 *
 * @throws {InvalidTokenList} when the file cannot be read or used
 */
export function rereadTokensOf(config: Config, { path }: TokensFile): readonly string[] {
  // A pipe would stop the service until somebody writes.
  if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
    throw new InvalidTokenList('it is no regular file');
  return tokensOf({ ...config, accessTokensFile: { path, tokens: readTokensFile(path) } });
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
  assertTokens(tokens);
  return tokens;
}
