/** Invalid tokens that resemble a valid one, and strings that reveal it. */

/** Characters that some comparisons ignore or remove: white space, controls, marks and invisible characters. */
const IGNORABLE = [...' \t\n\0\u0001\u007f\u00a0\u00ad\u0301\u200b\u200d\ufe0f\ufeff', '\r\n'];

/** Strings before or after a valid token. */
const AFFIXES = [
  ...[...IGNORABLE, ...'A0=.-/,;:|"\'\\', 'A'.repeat(100), '%00', '?a', '#a', '/..', ',b3RoZXI', '\nb3RoZXI', '; --'],
  ...['Bearer ', 'bearer ', 'Basic ', 'Token ', 'Bearer:', 'b3RoZXI,', 'b3RoZXI ', 'b3RoZXI:'],
];

/** Invalid tokens, by the case that derives them from a valid one, which may be among them. */
export const INVALID_TOKENS: Readonly<Record<string, (valid: string) => readonly string[]>> = {
  'rejects another token': (valid) => ['b3RoZXI', 'a', '0', 'null', 'undefined', 'true', 'x'.repeat(valid.length)],
  'rejects every part of a valid token, and an empty one': (valid) =>
    positionsOf(valid).flatMap((at) => [valid.slice(0, at), valid.slice(at), valid.slice(at + 1), valid.charAt(at)]),
  'rejects a valid token inside a longer string': (valid) =>
    [...AFFIXES, valid].flatMap((affix) => [valid + affix, affix + valid, affix + valid + affix, affix]),
  'rejects a valid token with one or two characters changed': (valid) =>
    positionsOf(valid).flatMap((at) => [
      replaceAt(valid, at, differentCharacter(valid.charAt(at))),
      replaceAt(valid, at, [...valid.slice(at, at + 2)].reverse().join('')),
    ]),
  'rejects a valid token in another letter case, in similar or with invisible characters': (valid) => [
    ...[valid.toLowerCase(), valid.toUpperCase(), valid.replace(/[a-z]/i, differentCharacter)],
    // Characters that lose their high bits, and full-width ones.
    ...[0x100, 0xfee0].map((offset) => valid.replace(/./g, (each) => String.fromCharCode(each.charCodeAt(0) + offset))),
    ...IGNORABLE.map((character) => valid.slice(0, 5) + character + valid.slice(5)),
  ],
  'rejects an encoded valid token': (valid) => [
    ...[toHex(valid), toHex(valid).toUpperCase(), btoa(valid), toBase64Url(valid), encodeURI(valid)],
    ...[`%${toHex(valid.charAt(0))}`, `&#${valid.charCodeAt(0)};`, `\\u00${toHex(valid.charAt(0))}`].map(
      (first) => first + valid.slice(1),
    ),
  ],
  'rejects a pattern that matches a valid token, or code': (valid) => [
    ...['%', '*', '.*', '^.*$', '_'.repeat(valid.length), '?'.repeat(valid.length)],
    ...['%', '*', '.*', '_', '?'].map((wildcard) => valid.slice(0, 4) + wildcard),
    ...[`^${valid}$`, `.${valid.slice(1)}`, `_${valid.slice(1)}`, `${valid}|a`, `${valid}' --`],
    ...["' OR '1'='1", "' OR 1=1 --", '" or ""="', '{"$ne":null}', '{"$gt":""}', '*)(uid=*'],
  ],
  'rejects the name of an object member': () =>
    [Object, Array, Map, String, Function].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype)),
  'rejects a token with forbidden characters': (valid) => [
    ...['\0\u{1f335}\ud800\r\n', '\0', '\ud800', '\udc00\ud800', '\ufffd', '🌵', 'é', 'b3RoZXI=====', '.', '..', '...'],
    `${valid}\ud800`,
  ],
  'rejects a token of one megabyte': (valid) => ['a'.repeat(2 ** 20), valid + 'a'.repeat(2 ** 20), '.'.repeat(2 ** 20)],
  'rejects a valid JSON Web Token with the algorithm none': toUnsigned,
};

/** Returns a JSON Web Token with headers that require no signature. Returns none for other tokens. */
function toUnsigned(token: string): readonly string[] {
  const [, header, payload, signature] = /^([\w-]+)\.([\w-]+)\.([\w-]+)$/.exec(token) ?? [];
  if (header === undefined) return [];
  const fields: object = JSON.parse(atob(header.replaceAll('-', '+').replaceAll('_', '/')));
  return ['none', 'None', 'NONE', 'nOnE', '', undefined]
    .map((alg) => toBase64Url(JSON.stringify({ ...fields, alg })))
    .flatMap((changed) => ['', '.', `.${signature}`].map((end) => `${changed}.${payload}${end}`));
}

/**
 * Returns whether `text` contains a part of `token`, forwards or backwards, in any letter case, plain, in hexadecimal or in
 * Base64, or all its characters in another order. Digests are not parts.
 */
export function revealsToken(text: string, token: string): boolean {
  // A hint such as "…d8Fz" shows the start or the end.
  if (text.includes(token.slice(0, 4)) || text.includes(token.slice(-4))) return true;
  // A part may start at any of three positions of a Base64 group. Shorter parts may appear by chance.
  const encoded = [toHex(token), ...[0, 1, 2].map((start) => btoa(token.slice(start)))];
  const parts = [...partsOf(token, 6), ...encoded.flatMap((form) => partsOf(form, 8))];
  const simplified = simplify(text);
  if (parts.some((part) => simplified.includes(part) || simplified.includes(reverse(part)))) return true;
  // The other characters cannot stand in a token (RFC 6750 §2.1).
  return text.split(/[^\w.~+/=-]+/).some((word) => sort(word) === sort(token));
}

function partsOf(text: string, length: number): string[] {
  const simplified = simplify(text);
  return positionsOf(simplified.slice(length - 1)).map((at) => simplified.slice(at, at + length));
}

/** Removes what two forms of Base64, or separators between hexadecimal codes, differ in. */
const simplify = (text: string) => text.replace(/[^a-z\d]/gi, '').toLowerCase();
const reverse = (text: string) => [...text].reverse().join('');
const sort = (text: string) => [...simplify(text)].sort().join('');

/** Returns a character whose highest bits differ in Base64, because the lowest bits of a last character have no meaning. */
function differentCharacter(character: string): string {
  if (!/[a-z]/i.test(character)) return 'A';
  return character === character.toUpperCase() ? character.toLowerCase() : character.toUpperCase();
}

function replaceAt(text: string, at: number, part: string): string {
  return text.slice(0, at) + part + text.slice(at + part.length);
}

const positionsOf = (text: string) => Array.from(text, (_, index) => index);
const toHex = (ascii: string) => Array.from(ascii, (each) => each.charCodeAt(0).toString(16).padStart(2, '0')).join('');
const toBase64Url = (ascii: string) => btoa(ascii).replace(/=+$/, '').replaceAll('+', '-').replaceAll('/', '_');
