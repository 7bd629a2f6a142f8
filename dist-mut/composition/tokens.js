import { readFileSync, statSync } from 'node:fs';
import { assertTokens, InvalidTokenList, tokensOfFile } from '../adapters/static-token/index.js';
/** All tokens of the configuration. */
export function tokensOf({ accessTokens = [], accessTokensFile }) {
    return [...accessTokens, ...(accessTokensFile?.tokens ?? [])];
}
/**
 * The tokens of the configuration with those of its file as it is now.
 *
 * @throws {InvalidTokenList} when the file cannot be read or used
 */
export function rereadTokensOf(config, { path }) {
    // A pipe would stop the service until somebody writes.
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false)
        throw new InvalidTokenList('it is no regular file');
    return tokensOf({ ...config, accessTokensFile: { path, tokens: readTokensFile(path) } });
}
/** @throws {InvalidTokenList} when the file cannot be read, is empty, or holds something that is no token */
export function readTokensFile(path) {
    let text;
    try {
        text = readFileSync(path, 'utf8');
    }
    catch (error) {
        const code = error instanceof Error && 'code' in error ? error.code : error;
        throw new InvalidTokenList(`the file cannot be read (${code})`);
    }
    const tokens = tokensOfFile(text);
    if (tokens.length === 0)
        throw new InvalidTokenList('the file holds no token');
    assertTokens(tokens);
    return tokens;
}
//# sourceMappingURL=tokens.js.map