/** Parses a number with a unit, such as `10s` or `64mb`. */
function parseQuantity(text: string, units: Readonly<Record<string, number>>): number | undefined {
  const [, digits = '', unit = ''] = /^(\d{1,9})([a-z]*)$/.exec(text.toLowerCase()) ?? [];
  const factor = units[unit];
  return digits === '' || factor === undefined ? undefined : Number(digits) * factor;
}

/** Parses a duration from 1 ms to 24 h, such as `500ms`, `10s`, `2m` or `1h`, to milliseconds. */
export function parseDurationMs(text: string): number | undefined {
  const ms = parseQuantity(text, { ms: 1, s: 1000, m: 60_000, h: 3_600_000 });
  return ms !== undefined && ms >= 1 && ms <= 86_400_000 ? ms : undefined;
}

/** Parses a size, such as `512`, `512kb`, `1mb` or `1gb`, to bytes; 1 kb is 1024 bytes. */
export function parseSizeBytes(text: string): number | undefined {
  return parseQuantity(text, { '': 1, b: 1, kb: 1024, mb: 1024 ** 2, gb: 1024 ** 3 });
}

/** Parses an integer from `min` to `max`. */
export function parseInteger(text: string, min: number, max: number): number | undefined {
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : undefined;
}
