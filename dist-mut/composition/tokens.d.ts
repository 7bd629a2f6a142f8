import type { Config } from './config.js';
/** A file of tokens, and what it held when it was read. */
export interface TokensFile {
    readonly path: string;
    readonly tokens: readonly string[];
}
/** All tokens of the configuration. */
export declare function tokensOf({ accessTokens, accessTokensFile }: Config): readonly string[];
/**
 * The tokens of the configuration with those of its file as it is now.
 *
 * @throws {InvalidTokenList} when the file cannot be read or used
 */
export declare function rereadTokensOf(config: Config, { path }: TokensFile): readonly string[];
/** @throws {InvalidTokenList} when the file cannot be read, is empty, or holds something that is no token */
export declare function readTokensFile(path: string): readonly string[];
//# sourceMappingURL=tokens.d.ts.map