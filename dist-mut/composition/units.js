/** A number with a unit as the environment has it, such as `10s` or `64mb`; `undefined` where it is none. */
function quantity(text, units) {
    const [, digits = '', unit = ''] = /^(\d{1,9})([a-z]*)$/.exec(text.toLowerCase()) ?? [];
    const factor = units[unit];
    return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}
/** Milliseconds of a duration from 1 ms to a day: `500ms`, `10s`, `2m`, `1h`. */
export function durationMs(text) {
    const ms = quantity(text, { ms: 1, s: 1000, m: 60_000, h: 3_600_000 });
    return ms !== undefined && ms >= 1 && ms <= 86_400_000 ? ms : undefined;
}
/** Bytes of a size: `512kb`, `1mb`, `1gb`, or bytes without a unit; a kb is 1024 bytes. */
export function sizeBytes(text) {
    return quantity(text, { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 });
}
/** A whole number from `min` to `max`. */
export function integer(text, min, max) {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
    return value >= min && value <= max ? value : undefined;
}
//# sourceMappingURL=units.js.map