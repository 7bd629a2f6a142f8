import type { Config } from '../config.js';
/** What `plant-store import` is given besides the settings. */
export interface ImportArguments {
    /** The file to read; standard input by default. */
    readonly file?: string | undefined;
    /** The file for what is refused; standard error by default. */
    readonly rejects?: string | undefined;
}
/** Reads NDJSON of NewPlant objects into the store. Resolves to the exit code of the process. */
export declare function importFile(config: Config, { file, rejects }: ImportArguments): Promise<number>;
//# sourceMappingURL=import.d.ts.map