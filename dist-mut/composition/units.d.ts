/** Milliseconds of a duration from 1 ms to a day: `500ms`, `10s`, `2m`, `1h`. */
export declare function durationMs(text: string): number | undefined;
/** Bytes of a size: `512kb`, `1mb`, `1gb`, or bytes without a unit; a kb is 1024 bytes. */
export declare function sizeBytes(text: string): number | undefined;
/** A whole number from `min` to `max`. */
export declare function integer(text: string, min: number, max: number): number | undefined;
//# sourceMappingURL=units.d.ts.map