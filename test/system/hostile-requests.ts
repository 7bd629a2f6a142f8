import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { TOKEN } from '../support/client.js';

/** The parts of one request, as plain values, so that a counterexample is readable. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  readonly authorization: readonly string[];
  readonly contentType: readonly string[];
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: {
    /** Contains {@link PLANT_ID} in place of the id. */
    readonly text: string;
    readonly coding: keyof typeof CODINGS;
    /** Values of the Content-Encoding headers. */
    readonly contentEncoding: readonly string[];
    /** Replaces one encoded byte; `at` is its position in thousandths of the length. */
    readonly damage: { readonly at: number; readonly byte: number } | undefined;
    /** Chunk boundaries in thousandths of the length; `undefined` for a body with Content-Length. */
    readonly chunks:
      | { readonly cuts: readonly number[]; readonly extension: string; readonly trailers: string }
      | undefined;
  };
  /** Ambiguity about where the request ends; the response must close the connection. */
  readonly ambiguity: keyof typeof AMBIGUITIES | undefined;
}

/** Placeholder for the id in a body. */
const PLANT_ID = '@id@';

const CODINGS = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes: Buffer) => deflateSync(bytes, { level: 1 }),
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { 1: 0 } }),
};

/** A complete request inside the body of another one; it must never be executed. */
const SMUGGLED =
  `POST /plants HTTP/1.1\r\nHost: test\r\nX-Request-Id: smuggled\r\nAuthorization: Bearer ${TOKEN}\r\n` +
  'Content-Type: application/json\r\nContent-Length: 28\r\n\r\n{"id":-77,"name":"smuggled"}';

/** Functions that make the head or the body of a valid request ambiguous. */
const AMBIGUITIES = {
  'Content-Length and Transfer-Encoding': inHead('Transfer-Encoding: chunked'),
  'a second Content-Length': inHead('Content-Length: 0'),
  'a Content-Length that is a list': lengthAs((length) => `${length}, ${length}`),
  'a Content-Length with a sign': lengthAs((length) => `+${length}`),
  'a Content-Length in hexadecimal': lengthAs((length) => `0x${length.toString(16)}`),
  'a Content-Length with an exponent': lengthAs((length) => `${length}e0`),
  'a Content-Length that contains a space': lengthAs(() => '1 0'),
  'a negative Content-Length': lengthAs((length) => `-${length}`),
  'an empty Content-Length': lengthAs(() => ''),
  'a Content-Length beyond 64 bits': lengthAs(() => '18446744073709551617'),
  'a space before the colon of Content-Length': inHead('Content-Length : 0'),
  'a space before the colon of Transfer-Encoding': inHead('Transfer-Encoding : chunked'),
  'Transfer-Encoding: identity': codingAs('identity'),
  'Transfer-Encoding: xchunked': codingAs('xchunked'),
  'Transfer-Encoding: gzip, chunked': codingAs('gzip, chunked'),
  'Transfer-Encoding: chunked, identity': codingAs('chunked, identity'),
  'Transfer-Encoding: chunked in quotes': codingAs('"chunked"'),
  'Transfer-Encoding: chunked after a vertical tab': codingAs('\x0bchunked'),
  'Transfer-Encoding: chunked; with a parameter': codingAs('chunked; q=1'),
  'Transfer-Encoding twice': codingAs('chunked\r\nTransfer-Encoding: chunked'),
  'a second, different Transfer-Encoding': codingAs('chunked\r\nTransfer-Encoding: identity'),
  'a folded Transfer-Encoding': codingAs('\r\n chunked'),
  'a folded header': inHead('X-Long: a\r\n b'),
  'a header line that ends in LF alone': inHead('X: a\nContent-Length: 0'),
  'a header line that ends in CR alone': inHead('X: a\rContent-Length: 0'),
  'a NUL in a header': inHead('X: a\0b'),
  'a header without a colon': inHead('Content-Length'),
  'a header without a name': inHead(': 0'),
  'lines that end in LF alone': (head: string, body: Buffer) => framed(head.replaceAll('\r\n', '\n'), body),
  'a second Host': inHead('Host: test'),
  'no Host': (head: string, body: Buffer) => framed(head.replace('Host: test\r\n', ''), body),
  'a lower-case method': (head: string, body: Buffer) => framed(head.replace(/^[A-Z]+/, 'post'), body),
  'HTTP/1.2': (head: string, body: Buffer) => framed(head.replace('HTTP/1.1', 'HTTP/1.2'), body),
  'HTTP/2.0': (head: string, body: Buffer) => framed(head.replace('HTTP/1.1', 'HTTP/2.0'), body),
  'chunks in HTTP/1.0': (head: string, body: Buffer) => chunked(head.replace('HTTP/1.1', 'HTTP/1.0'), hex(body), body),
  'a chunk size that is not a number': chunkAs(() => 'x'),
  'a chunk size with the prefix 0x': chunkAs((size) => `0x${size}`),
  'a chunk size with a sign': chunkAs((size) => `+${size}`),
  'a negative chunk size': chunkAs(() => '-1'),
  'a chunk size after a space': chunkAs((size) => ` ${size}`),
  'a chunk size that is too small': chunkAs((_, body) => hex(body.subarray(1))),
  'a chunk size beyond 64 bits': chunkAs((size) => `1${'0'.repeat(16 - size.length)}${size}`),
  'a chunk size that ends in LF alone': (head: string, body: Buffer) =>
    withCoding(head, 'chunked', Buffer.concat([Buffer.from(`${hex(body)}\n`), body, Buffer.from('\r\n0\r\n\r\n')])),
  'a chunk extension that ends in LF alone': (head: string, body: Buffer) =>
    withCoding(head, 'chunked', Buffer.concat([Buffer.from(`${hex(body)};a\n`), body, Buffer.from('\r\n0\r\n\r\n')])),
  'a chunk that ends in LF alone': (head: string, body: Buffer) =>
    withCoding(head, 'chunked', Buffer.concat([Buffer.from(`${hex(body)}\r\n`), body, Buffer.from('\n0\r\n\r\n')])),
};

type MakeAmbiguous = (head: string, body: Buffer) => Buffer;

function framed(head: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`, 'latin1'), body]);
}

function inHead(line: string): MakeAmbiguous {
  return (head, body) => framed(`${head}${line}\r\n`, body);
}

function lengthAs(value: (length: number) => string): MakeAmbiguous {
  return (head, body) =>
    Buffer.concat([Buffer.from(`${head}Content-Length: ${value(body.length)}\r\n\r\n`, 'latin1'), body]);
}

function withCoding(head: string, coding: string, chunks: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${head}Transfer-Encoding: ${coding}\r\n\r\n`, 'latin1'), chunks]);
}

function chunked(head: string, size: string, body: Buffer, coding = 'chunked'): Buffer {
  return withCoding(head, coding, Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n0\r\n\r\n')]));
}

function codingAs(coding: string): MakeAmbiguous {
  return (head, body) => chunked(head, hex(body), body, coding);
}

function chunkAs(size: (size: string, body: Buffer) => string): MakeAmbiguous {
  return (head, body) => chunked(head, size(hex(body), body), body);
}

function hex(bytes: Buffer): string {
  return bytes.length.toString(16);
}

/** Converts a request to bytes, with its request id and plant id. */
export function toBytes(request: HostileRequest, requestId: string, plantId: bigint): Buffer {
  const { method, target, version, authorization, contentType, headers, body, ambiguity } = request;
  const lines = [
    `${method} ${target} ${version}`,
    'Host: test',
    `X-Request-Id: ${requestId}`,
    ...authorization.map((value) => `Authorization: ${value}`),
    ...contentType.map((value) => `Content-Type: ${value}`),
    ...body.contentEncoding.map((value) => `Content-Encoding: ${value}`),
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  const head = `${lines.join('\r\n')}\r\n`;
  const encoded = CODINGS[body.coding](Buffer.from(body.text.replaceAll(PLANT_ID, `${plantId}`)));
  const { damage, chunks } = body;
  if (damage && encoded.length > 0) encoded[Math.floor((damage.at * encoded.length) / 1000)] = damage.byte;
  if (ambiguity) return AMBIGUITIES[ambiguity](head, encoded);
  return chunks ? withCoding(head, 'chunked', inChunks(encoded, chunks)) : framed(head, encoded);
}

function inChunks(
  bytes: Buffer,
  { cuts, extension, trailers }: Exclude<HostileRequest['body']['chunks'], undefined>,
): Buffer {
  const ends = [...new Set(cuts.map((cut) => Math.floor((cut * bytes.length) / 1000)))].toSorted((a, b) => a - b);
  const parts: Buffer[] = [];
  let begin = 0;
  for (const end of [...ends, bytes.length]) {
    if (end === begin) continue;
    parts.push(Buffer.from(`${(end - begin).toString(16)}${extension}\r\n`), bytes.subarray(begin, end));
    parts.push(Buffer.from('\r\n'));
    begin = end;
  }
  return Buffer.concat([...parts, Buffer.from(`0${extension}\r\n${trailers}\r\n`)]);
}

/** A valid create that closes its connection. */
export const lastCreate: HostileRequest = {
  method: 'POST',
  target: '/plants',
  version: 'HTTP/1.1',
  authorization: [`Bearer ${TOKEN}`],
  contentType: ['application/json'],
  headers: [['Connection', 'close']],
  body: {
    text: `{"id":${PLANT_ID},"name":"canary-last"}`,
    coding: 'identity',
    contentEncoding: [],
    damage: undefined,
    chunks: undefined,
  },
  ambiguity: undefined,
};

/** Generates `usual` with the given weight, or one of `others`. */
function mostly<T>(weight: number, usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const jsonText = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text));
const goodText = fc
  .tuple(jsonText, fc.option(jsonText, { nil: undefined }))
  .map(
    ([name, tag]) =>
      `{"id":${PLANT_ID},"name":${name}${tag === undefined ? '' : `,"tag":${tag}`},"note":"canary-body"}`,
  );
const jsonValue = fc.oneof(
  fc.constantFrom(PLANT_ID, 'null', 'true', '-0', '1.5', '1e400', '9223372036854775808', '9'.repeat(400), '[]', '{}'),
  fc.constantFrom('"\\ud800"', '"\\u0000"', '"canary-text"', '[['.repeat(50) + ']]'.repeat(50)),
  jsonText,
  fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value)),
);
const key = mostly(4, 'name', 'id', 'tag', '__proto__', 'constructor', 'toString', '\\u0069d', '', 'NAME');
const oddText = fc
  .array(fc.tuple(key, jsonValue), { maxLength: 6 })
  .map((members) => `{"id":${PLANT_ID},${members.map(([name, value]) => `"${name}":${value}`).join()}}`);
const SNIPPETS = [
  '',
  ',',
  '"',
  '{',
  '[',
  ']',
  '}',
  ':',
  '\\',
  '\0',
  '\n',
  '\ufeff',
  '\ud800',
  '//',
  'NaN',
  '0',
  '-',
  'e9',
];
const brokenText = fc
  .tuple(fc.oneof(goodText, oddText), fc.nat({ max: 1000 }), fc.nat({ max: 5 }), fc.constantFrom(...SNIPPETS))
  .map(([text, place, length, snippet]) => {
    const at = Math.floor((place * text.length) / 1000);
    return text.slice(0, at) + snippet + text.slice(at + length);
  });
const text = fc.oneof(
  { weight: 6, arbitrary: goodText },
  { weight: 4, arbitrary: oddText },
  { weight: 4, arbitrary: brokenText },
  { weight: 2, arbitrary: jsonValue },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 50 }) },
  { weight: 1, arbitrary: fc.constant(SMUGGLED) },
);

const codings = Object.keys(CODINGS).filter((name): name is keyof typeof CODINGS => name in CODINGS);
const chunks = fc.record({
  cuts: fc.array(fc.nat({ max: 1000 }), { maxLength: 5 }),
  extension: mostly(4, '', ';', ';a=b', ';a="b;c"', ';chunked'),
  trailers: mostly(4, '', 'X: y\r\n', 'Content-Length: 7\r\n', 'Authorization: Bearer x\r\nHost: evil\r\n'),
});
const body = fc
  .record({
    text,
    coding: mostly<keyof typeof CODINGS>(4, 'identity', ...codings),
    encodings: mostly<readonly string[] | undefined>(
      8,
      undefined,
      [],
      ['identity'],
      ['gzip'],
      ['BR'],
      ['x'],
      ['gzip', 'br'],
      [''],
    ),
    damage: fc.option(fc.record({ at: fc.nat({ max: 999 }), byte: fc.nat({ max: 255 }) }), { freq: 6, nil: undefined }),
    chunks: fc.option(chunks, { freq: 1, nil: undefined }),
  })
  .map(({ encodings, ...rest }) => ({
    ...rest,
    contentEncoding: encodings ?? (rest.coding === 'identity' ? [] : [rest.coding]),
  }));

const GOOD_TOKEN = [`Bearer ${TOKEN}`];
const NAMES =
  'Accept Accept-Encoding Cookie Range If-Match Forwarded X-Forwarded-For X-Forwarded-Host X-HTTP-Method-Override Via Te ' +
  'Trailer Keep-Alive Origin Referer Max-Forwards Content-Language Content-Location Idempotency-Key __proto__ constructor';
const value = fc.string({
  unit: fc
    .oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
    .map((code) => String.fromCharCode(code)),
  maxLength: 20,
});
const header = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(fc.constantFrom(...NAMES.split(' ')), fc.oneof(value, fc.constant('canary-header'))),
  },
  {
    weight: 1,
    arbitrary: fc.tuple(
      fc.stringMatching(/^X-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/).filter((name) => !/^x-request-id$/i.test(name)),
      value,
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ['Expect', '100-continue'] as const,
      ['Expect', 'canary'] as const,
      ['Connection', 'close'] as const,
      ['Connection', 'keep-alive'] as const,
      ['Connection', 'Content-Length'] as const,
      ['Upgrade', 'h2c'] as const,
    ),
  },
);
// Without CONNECT, for which Node closes the connection.
const METHODS = 'GET PUT DELETE PATCH OPTIONS TRACE PROPFIND SEARCH'.split(' ');
const TARGETS =
  '/ /openapi.json /plants/ /PLANTS //plants /plants?canary-query /plants; /plants%00 /../plants http://test/plants ' +
  'http://canary:canary@evil.example:1/plants https://x/openapi.json /plants?<script> * plants file:///plants';

/** Generates hostile requests. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc
  .record({
    method: mostly(14, 'POST', ...METHODS),
    target: fc.oneof(
      { weight: 14, arbitrary: fc.constant('/plants') },
      { weight: 2, arbitrary: fc.constantFrom(...TARGETS.split(' ')) },
      { weight: 1, arbitrary: fc.stringMatching(/^\/[!-~]{0,20}$/) },
    ),
    version: mostly(20, 'HTTP/1.1', 'HTTP/1.0'),
    authorization: mostly<readonly string[]>(
      10,
      GOOD_TOKEN,
      [],
      ['Bearer canary-wrong'],
      ['Basic Y2FuYXJ5'],
      [`bearer   ${TOKEN}`],
      [...GOOD_TOKEN, 'Bearer canary-wrong'],
      [`Bearer ${TOKEN}, Bearer ${TOKEN}`],
    ),
    contentType: mostly<readonly string[]>(
      10,
      ['application/json'],
      ['application/json; charset=utf-8'],
      ['application/json; charset=utf-8; charset=latin1'],
      ['text/plain'],
      [],
      ['application/json', 'text/plain'],
      ['application/json; canary="\\"'],
    ),
    headers: fc.array(header, { maxLength: 4 }),
    body,
    ambiguity: mostly<keyof typeof AMBIGUITIES | undefined>(12, undefined, ...ambiguityNames()),
  })
  // An ambiguous request is otherwise valid.
  .map((request) =>
    request.ambiguity === undefined
      ? request
      : {
          ...lastCreate,
          headers: [],
          ambiguity: request.ambiguity,
          body: { ...lastCreate.body, text: request.body.text || '{}' },
        },
  );

function ambiguityNames(): (keyof typeof AMBIGUITIES)[] {
  return Object.keys(AMBIGUITIES).filter((name): name is keyof typeof AMBIGUITIES => name in AMBIGUITIES);
}
