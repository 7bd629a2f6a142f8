/** Matches what follows a key; captures the value if it is a number. */
const VALUE = /\s*:\s*(-?\d[\d.eE+-]*)?/y;

/** Number of digits of the largest int64. */
const MAX_DIGITS = 19;

/**
 * Returns the numeric value of the member `key` as written, because JSON.parse rounds it. Returns `undefined` if the
 * text is not an object with this member, or its value is not a number. Of several equal keys, the last one counts.
 *
 * Scans once, without recursion, so that deep nesting cannot overflow the stack.
 * @param json A text that JSON.parse accepted.
 */
export function findNumberText(json: string, key: string): string | undefined {
  let text: string | undefined;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === '"') {
      const start = at++;
      while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
      VALUE.lastIndex = at + 1;
      // A string without a colon after it is a value, not a key.
      const value = depth === 1 ? VALUE.exec(json) : null;
      if (value && JSON.parse(json.slice(start, at + 1)) === key) text = value[1];
    }
  }
  return text;
}

/**
 * Parses a JSON number as an exact integer. `1.0`, `1e3` and `10e-1` are integers (JSON Schema 2020-12, "integer"),
 * `-0` is 0. Returns `undefined` for a fraction and for numbers with more digits than an int64.
 * @param source A number in the JSON grammar (RFC 8259 §6).
 */
export function parseExactInteger(source: string): bigint | undefined {
  const [, sign = '', whole = '', fraction = '', exponent = ''] = /^(-?)(\d+)\.?(\d*)[eE]?(.*)$/.exec(source) ?? [];
  const digits = whole + fraction;
  const first = digits.search(/[1-9]/);
  if (first === -1) return 0n;
  const point = whole.length + Number(exponent);
  const hasFraction = /[1-9]/.test(digits.slice(Math.max(point, 0)));
  if (hasFraction || point - first > MAX_DIGITS) return undefined;
  return BigInt(sign + digits.slice(first, point).padEnd(point - first, '0'));
}
