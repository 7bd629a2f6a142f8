/** Invalid tokens that resemble a valid one, and strings that reveal it. */

/** Maximum number of positions at which a token is changed. */
const MAX_POSITIONS = 200;
/** Minimum length of a part of a token, anywhere in a string, that reveals it; shorter ones may appear by chance. */
const MIN_PART_LENGTH = 6;
/** The same for an encoded part. */
const MIN_ENCODED_LENGTH = 10;
/** Number of characters that a hint such as "…d8Fz" shows of the start or the end of a token. */
const HINT_LENGTH = 4;

/** Characters that some comparisons ignore or remove: white space, controls, marks and invisible characters. */
const IGNORABLE = [
  ...[' ', '\t', '\n', '\r\n', '\0', '\u0001', '\u00a0', '\u00ad', '\u0301', '\u200b', '\u200d', '\ufe0f', '\ufeff'],
];

/** The alphabet of Base64. */
const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** Names that are members of every object, list, map, string or function. */
const OBJECT_MEMBERS = [...new Set([{}, [], new Map(), new String(), () => {}].flatMap(membersOf))];

/** Invalid tokens, by how they are derived. A derived token may equal the valid one: filter it out. */
export const INVALID_TOKENS: Readonly<Record<string, (valid: string) => readonly string[]>> = {
  'another token': (valid) => ['b3RoZXI', 'a', '0', 'null', 'undefined', 'true', 'x'.repeat(valid.length)],
  'every part of a valid token, also an empty one': (valid) =>
    // A JSON Web Token ends with its signature.
    [...positionsOf(valid), valid.lastIndexOf('.'), valid.lastIndexOf('.') + 1].flatMap((index) => [
      valid.slice(0, Math.max(0, index)),
      valid.slice(index + 1),
      valid.charAt(index),
    ]),
  'a valid token inside a longer string': (valid) => [
    ...['A', '=', '.', '-', '0', 'A'.repeat(100), '%00', '?a', '#a', '/..', '\n', '\r\n', '\nb3RoZXI', valid].map(
      (suffix) => valid + suffix,
    ),
    ...['A', '=', '.', 'x'.repeat(valid.length)].map((prefix) => prefix + valid),
    ...['Bearer ', 'bearer ', 'Basic ', 'Token ', 'Bearer:'].map((scheme) => scheme + valid),
    ...[',', ' ', ';', '\n', '|', ':', '\t'].flatMap((separator) => [
      ...[`${valid}${separator}b3RoZXI`, `b3RoZXI${separator}${valid}`, `${valid}${separator}`, `${separator}${valid}`],
      separator,
    ]),
    ...[`"${valid}"`, `'${valid}'`, `[${valid}]`, `<${valid}>`, `["${valid}"]`],
    ...IGNORABLE.flatMap((character) => [valid + character, character + valid, character + valid + character]),
  ],
  'a valid token with one or two characters changed': (valid) => [
    ...positionsOf(valid).flatMap((index) => [
      valid.slice(0, index) + differentCharacter(valid.charAt(index)) + valid.slice(index + 1),
      valid.slice(0, index) + reverse(valid.slice(index, index + 2)) + valid.slice(index + 2),
    ]),
    ...[reverse(valid), [...valid].sort().join('')],
    ...[...withSameHash(valid, 31), ...withSameHash(valid, 33)],
  ],
  'a valid token in a different letter case': (valid) =>
    [valid.toLowerCase(), valid.toUpperCase(), swapCase(valid), valid.replace(/[a-z]/i, swapCase)].filter(
      (text) => text !== valid,
    ),
  'a valid token in similar or with invisible characters': (valid) => [
    mapCodes(valid, (code) => code + 0xfee0),
    ...[0x80, 0x100, 0x200, 0x1000].map((offset) => mapCodes(valid, (code) => code + offset)),
    mapCodes(valid.slice(0, 1), (code) => code + 0x100) + valid.slice(1),
    ...IGNORABLE.map((character) => valid.slice(0, 5) + character + valid.slice(5)),
  ],
  'an encoded valid token': (valid) => [
    ...[toHex(valid), toHex(valid).toUpperCase(), btoa(valid), toBase64Url(valid)],
    ...[toPercent(valid), encodeFirst(valid, toPercent), encodeFirst(valid, (text) => `&#${text.charCodeAt(0)};`)],
    encodeFirst(valid, (text) => `\\u00${toHex(text)}`),
  ],
  'a pattern that matches a valid token, or code': (valid) => [
    ...['%', '*', '.*', '.+', '^', '$', '()', '[^]*', '^.*$', '\\S+'],
    ...['_'.repeat(valid.length), '?'.repeat(valid.length), `${valid.slice(0, 4)}%`, `${valid.slice(0, 4)}*`],
    ...[`${valid.slice(0, 4)}.*`, `^${valid}$`, `.${valid.slice(1)}`, `_${valid.slice(1)}`, `(${valid})`, `${valid}|a`],
    ...["' OR '1'='1", "' OR 1=1 --", '" or ""="', `${valid}' --`, '{"$ne":null}', '{"$gt":""}', '*)(uid=*'],
  ],
  'the name of an object member': () => OBJECT_MEMBERS,
  'a token with forbidden characters': (valid) => [
    ...['\0\u{1f335}\ud800\r\n', '\0', '\ud800', '\udc00\ud800', '\ufffd', '🌵', 'é', 'b3RoZXI=====', '.', '..', '...'],
    `${valid}\ud800`,
  ],
  'a token of one megabyte': (valid) => ['a'.repeat(2 ** 20), valid + 'a'.repeat(2 ** 20), '.'.repeat(2 ** 20)],
};

/** Returns a JSON Web Token with headers that require no signature. Returns none for other tokens. */
export function toUnsigned(token: string): readonly string[] {
  const [, header = '', payload = '', signature = ''] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? [];
  if (signature === '') return [];
  const fields: object = JSON.parse(atob(header.replaceAll('-', '+').replaceAll('_', '/')));
  return ['none', 'None', 'NONE', 'nOnE', '', undefined]
    .map((alg) => toBase64Url(JSON.stringify({ ...fields, alg })))
    .flatMap((changed) => ['', '.', `.${signature}`].map((end) => `${changed}.${payload}${end}`));
}

/** Returns whether `text` contains a part of `token`, plain or in a common encoding. Digests are not parts. */
export function revealsToken(text: string, token: string): boolean {
  if (text.includes(token.slice(0, HINT_LENGTH)) || text.includes(token.slice(-HINT_LENGTH))) return true;
  const encoded = [
    ...[toHex(token), toPercent(token), Array.from(token, (character) => character.charCodeAt(0)).join('')],
    // A part may start at any of three positions of a Base64 group.
    ...[0, 1, 2].flatMap((start) => [btoa(token.slice(start)), toBase64Url(token.slice(start))]),
  ];
  const parts = [
    ...[token, reverse(token)].flatMap((each) => partsOf(each, MIN_PART_LENGTH)),
    ...encoded.flatMap((each) => [each, reverse(each)]).flatMap((each) => partsOf(each, MIN_ENCODED_LENGTH)),
  ];
  // Codes may be separated, as in 5a:6b.
  const texts = [text, text.replace(/[^a-z\d]/gi, '')].map((each) => each.toLowerCase());
  return parts.some((part) => texts.some((each) => each.includes(part.toLowerCase())));
}

/** Returns the positions of `text`, or some of them if there are too many. */
function positionsOf(text: string): number[] {
  const step = Math.ceil(text.length / MAX_POSITIONS);
  return Array.from(text, (_, index) => index).filter((index) => index % step === 0 || index === text.length - 1);
}

/**
 * Returns a different character. For Base64 it differs in the highest bit, because the lowest bits of a last character
 * have no meaning.
 */
function differentCharacter(character: string): string {
  const index = BASE64.indexOf(character);
  return index === -1 ? 'x' : BASE64.charAt(index ^ 32);
}

/** Returns strings with the same hash, for hashes that multiply by `factor` and add a character. */
function withSameHash(text: string, factor: number): string[] {
  return positionsOf(text).flatMap((index) => {
    const [first = 0, second = 0] = [text.charCodeAt(index), text.charCodeAt(index + 1)];
    const [changedFirst, changedSecond] = second > 75 ? [first + 1, second - factor] : [first - 1, second + factor];
    const isPrintable = [changedFirst, changedSecond].every((code) => 0x20 < code && code < 0x7f);
    const changed = String.fromCharCode(changedFirst, changedSecond);
    return isPrintable ? [text.slice(0, index) + changed + text.slice(index + 2)] : [];
  });
}

function membersOf(value: object): string[] {
  const prototype: object | null = Object.getPrototypeOf(value);
  return [...Object.getOwnPropertyNames(value), ...(prototype ? membersOf(prototype) : [])];
}

/** Returns every part of `text` of the given length. */
function partsOf(text: string, length: number): string[] {
  return Array.from({ length: Math.max(0, text.length - length + 1) }, (_, start) => text.slice(start, start + length));
}

function reverse(text: string): string {
  return [...text].reverse().join('');
}

function swapCase(text: string): string {
  return Array.from(text, (each) => (each === each.toUpperCase() ? each.toLowerCase() : each.toUpperCase())).join('');
}

function mapCodes(text: string, change: (code: number) => number): string {
  return Array.from(text, (character) => String.fromCharCode(change(character.charCodeAt(0)))).join('');
}

function encodeFirst(text: string, encode: (character: string) => string): string {
  return encode(text.slice(0, 1)) + text.slice(1);
}

function toHex(text: string): string {
  return Array.from(text, (character) => character.charCodeAt(0).toString(16).padStart(2, '0')).join('');
}

function toPercent(text: string): string {
  return toHex(text).replace(/../g, '%$&');
}

function toBase64Url(ascii: string): string {
  return btoa(ascii).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}
