const QUOTE = 0x22;
const COMMA = 0x2c;
const MINUS = 0x2d;
const DIGIT_0 = 0x30;
const DIGIT_9 = 0x39;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
/**
 * The digits that JSON.parse rounds: the source text of the member `key` of the object that `json` is, or `undefined`
 * where the member is missing or no number. Of equal keys the last one counts, as in JSON.parse.
 *
 * One pass without recursion, so that no nesting overflows the stack.
 *
 * @param json a text that JSON.parse accepted and that is an object
 */
export function numberSource(json, key) {
    let source;
    let depth = 0;
    let atKey = false;
    for (let at = 0; at < json.length; at++) {
        switch (json.charCodeAt(at)) {
            case OPEN_BRACE:
            case OPEN_BRACKET:
                depth++;
                atKey = depth === 1;
                break;
            case CLOSE_BRACE:
            case CLOSE_BRACKET:
                depth--;
                break;
            case COMMA:
                atKey = depth === 1;
                break;
            case QUOTE: {
                const end = closingQuote(json, at);
                if (atKey) {
                    atKey = false;
                    if (isKey(json, at, end, key))
                        source = numberAt(json, json.indexOf(':', end) + 1);
                }
                at = end;
                break;
            }
        }
    }
    return source;
}
function closingQuote(json, open) {
    for (let quote = json.indexOf('"', open + 1);; quote = json.indexOf('"', quote + 1)) {
        let backslashes = 0;
        while (json.charCodeAt(quote - 1 - backslashes) === BACKSLASH)
            backslashes++;
        if (backslashes % 2 === 0)
            return quote;
    }
}
function isKey(json, open, close, key) {
    const text = json.slice(open + 1, close);
    return text === key || (text.includes('\\') && JSON.parse(json.slice(open, close + 1)) === key);
}
function numberAt(json, start) {
    let from = start;
    while (json.charCodeAt(from) <= 0x20)
        from++;
    const first = json.charCodeAt(from);
    if (first !== MINUS && (first < DIGIT_0 || first > DIGIT_9))
        return undefined;
    let to = from + 1;
    while (!endsNumber(json.charCodeAt(to)))
        to++;
    return json.slice(from, to);
}
function endsNumber(code) {
    return code <= 0x20 || code === COMMA || code === CLOSE_BRACE || Number.isNaN(code);
}
/**
 * The integer that a JSON number is, exactly: `1.0`, `1e3` and `10e-1` are integers (JSON Schema 2020-12, "integer"),
 * `-0` is 0. `undefined` for what is no integer, or is so long that it is no int64.
 *
 * @param source a number as the JSON grammar has it (RFC 8259 §6)
 */
export function exactInteger(source) {
    if (source.length <= 20 && /^-?\d+$/.test(source))
        return BigInt(source);
    const [significand = '', exponent = '0'] = source.split(/[eE]/, 2);
    const sign = significand.startsWith('-') ? '-' : '';
    const [whole = '', fraction = ''] = significand.slice(sign.length).split('.', 2);
    const digits = whole + fraction;
    let first = 0;
    while (digits[first] === '0')
        first++;
    if (first === digits.length)
        return 0n;
    let last = digits.length;
    while (digits[last - 1] === '0')
        last--;
    const point = whole.length + Number(exponent);
    const isInteger = point >= last;
    return isInteger && point - first <= 19
        ? BigInt(sign + digits.slice(first, last).padEnd(point - first, '0'))
        : undefined;
}
//# sourceMappingURL=exact-integer.js.map