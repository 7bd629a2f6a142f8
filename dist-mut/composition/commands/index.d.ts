import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.js';
type Values = Readonly<Record<string, unknown>>;
/** One word of the command line. */
export interface Command {
    readonly usage: string;
    readonly does: string;
    readonly example: string;
    /** Its own flags, beside those of the settings. */
    readonly options: NonNullable<ParseArgsConfig['options']>;
    readonly argumentsMax: number;
    /** Resolves to the exit code of the process. What a command needs is loaded when it runs. */
    run(config: Config, values: Values, args: readonly string[]): Promise<number>;
}
/** Every command; `serve` is the default. */
export declare const commands: ReadonlyMap<string, Command>;
export {};
//# sourceMappingURL=index.d.ts.map