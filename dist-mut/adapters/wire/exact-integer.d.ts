/**
 * The digits that JSON.parse rounds: the source text of the member `key` of the object that `json` is, or `undefined`
 * where the member is missing or no number. Of equal keys the last one counts, as in JSON.parse.
 *
 * One pass without recursion, so that no nesting overflows the stack.
 *
 * @param json a text that JSON.parse accepted and that is an object
 */
export declare function numberSource(json: string, key: string): string | undefined;
/**
 * The integer that a JSON number is, exactly: `1.0`, `1e3` and `10e-1` are integers (JSON Schema 2020-12, "integer"),
 * `-0` is 0. `undefined` for what is no integer, or is so long that it is no int64.
 *
 * @param source a number as the JSON grammar has it (RFC 8259 §6)
 */
export declare function exactInteger(source: string): bigint | undefined;
//# sourceMappingURL=exact-integer.d.ts.map