import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { TOKEN } from '../support/service.js';

/** The parts of one request, as plain values, so that a counterexample is readable. */
export interface HostileRequest {
  readonly method: string;
  readonly target: string;
  readonly version: string;
  /** The header lines after Host and X-Request-Id. */
  readonly headers: readonly string[];
  /** The body before its coding, with {@link PLANT_ID} in place of the id. */
  readonly text: string;
  readonly coding: keyof typeof CODINGS;
  /** Replaces one encoded byte; `at` is its position in thousandths of the length. */
  readonly damage: { readonly at: number; readonly byte: number } | undefined;
  /** Chunk boundaries in thousandths of the length; `undefined` for a body with Content-Length. */
  readonly chunks:
    | { readonly cuts: readonly number[]; readonly extension: string; readonly trailers: string }
    | undefined;
  /** Whether the end of the request is ambiguous; `headers` and `text` then include the framing. */
  readonly isAmbiguous: boolean;
}

/** Placeholder for the id in a body. */
const PLANT_ID = '@id@';

const CODINGS = {
  identity: (bytes: Buffer) => bytes,
  gzip: (bytes: Buffer) => gzipSync(bytes, { level: 1 }),
  deflate: (bytes: Buffer) => deflateSync(bytes, { level: 1 }),
  br: (bytes: Buffer) => brotliCompressSync(bytes, { params: { 1: 0 } }),
};

/** Converts a request to bytes, with its request id and plant id. */
export function toBytes(request: HostileRequest, requestId: string, plantId: bigint): Buffer {
  const { method, target, version, headers, text, coding, damage, chunks, isAmbiguous } = request;
  const lines = [`${method} ${target} ${version}`, 'Host: test', `X-Request-Id: ${requestId}`, ...headers];
  const body = CODINGS[coding](Buffer.from(text.replaceAll(PLANT_ID, `${plantId}`)));
  if (damage && body.length > 0) body[Math.floor((damage.at * body.length) / 1000)] = damage.byte;
  const withHead = (framing: readonly string[], parts: readonly Buffer[]) =>
    Buffer.concat([Buffer.from(`${[...lines, ...framing].join('\r\n')}\r\n\r\n`, 'latin1'), ...parts]);
  if (isAmbiguous) return withHead([], [body]);
  if (chunks === undefined) return withHead([`Content-Length: ${body.length}`], [body]);
  const ends = [...new Set(chunks.cuts.map((cut) => Math.floor((cut * body.length) / 1000))), body.length];
  const sorted = ends.toSorted((a, b) => a - b);
  const parts = sorted
    .map((end, index) => body.subarray(sorted[index - 1] ?? 0, end))
    .filter(({ length }) => length > 0);
  const framed = parts.flatMap((part) => [
    Buffer.from(`${part.length.toString(16)}${chunks.extension}\r\n`),
    part,
    Buffer.from('\r\n'),
  ]);
  const last = Buffer.from(`0${chunks.extension}\r\n${chunks.trailers}\r\n`);
  return withHead(['Transfer-Encoding: chunked'], [...framed, last]);
}

const JSON_TYPE = 'Content-Type: application/json';
const GOOD_TOKEN = `Authorization: Bearer ${TOKEN}`;
const validCreate: HostileRequest = {
  ...{ method: 'POST', target: '/plants', version: 'HTTP/1.1', headers: [GOOD_TOKEN, JSON_TYPE] },
  ...{ text: '', coding: 'identity', damage: undefined, chunks: undefined, isAmbiguous: false },
};

/** A valid create that closes its connection. */
export const lastCreate: HostileRequest = {
  ...validCreate,
  headers: [...validCreate.headers, 'Connection: close'],
  text: `{"id":${PLANT_ID},"name":"canary-last"}`,
};

/** A plant that must never be stored, of 28 bytes. */
const SMUGGLED = '{"id":-77,"name":"smuggled"}';
/** A complete request inside the body of another one. */
const SMUGGLED_REQUEST =
  `POST /plants HTTP/1.1\r\nHost: test\r\nX-Request-Id: smuggled\r\n${GOOD_TOKEN}\r\n${JSON_TYPE}\r\n` +
  `Content-Length: 28\r\n\r\n${SMUGGLED}`;

/** Returns the headers and the body of a valid create, framed with these header lines and, if chunked, this chunk. */
function framed(lines: string, chunk?: string): Pick<HostileRequest, 'headers' | 'text'> {
  return { headers: [...validCreate.headers, lines], text: chunk === undefined ? SMUGGLED : `${chunk}0\r\n\r\n` };
}
const CHUNK = `1c\r\n${SMUGGLED}\r\n`;
/** Values in place of `Content-Length: 28`, with further lines. */
const LENGTHS =
  '28, 28|+28|0x1c|28e0|2 8|-28||18446744073709551617|28\r\nContent-Length: 0|28\r\nTransfer-Encoding: chunked|' +
  '28\r\nTransfer-Encoding : chunked|28\r\nX: a\r\n b|28\r\nX: a\nY: b|28\r\nX: a\rY: b|28\r\nX: a\0b|28\r\nX|28\r\n: x|' +
  '28\r\nHost: test';
/** Values in place of `Transfer-Encoding: chunked`. */
const TRANSFER_CODINGS =
  'identity|xchunked|gzip, chunked|chunked, identity|"chunked"|\x0bchunked|chunked; q=1|\r\n chunked|' +
  'chunked\r\nTransfer-Encoding: chunked|chunked\r\nTransfer-Encoding: identity';
/** Texts in place of the size of a chunk and its line break. */
const SIZES = 'x\r\n|0x1c\r\n|+1c\r\n|-1\r\n| 1c\r\n|1b\r\n|1000000000000000001c\r\n|1c\n|1c;a\n';
/** Parts of requests whose end is ambiguous. */
const AMBIGUOUS: readonly Partial<HostileRequest>[] = [
  ...LENGTHS.split('|').map((value) => framed(`Content-Length: ${value}`)),
  ...TRANSFER_CODINGS.split('|').map((value) => framed(`Transfer-Encoding: ${value}`, CHUNK)),
  ...SIZES.split('|').map((size) => framed('Transfer-Encoding: chunked', `${size}${SMUGGLED}\r\n`)),
  framed('Transfer-Encoding: chunked', CHUNK.replace(/\r\n$/, '\n')),
  ...['1.0', '1.2', '2.0'].map((version) => ({
    ...framed('Transfer-Encoding: chunked', CHUNK),
    version: `HTTP/${version}`,
  })),
];

/** Generates `usual` with the given weight, or one of `others`. */
function mostly<T>(weight: number, usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return rarely(weight, fc.constant(usual), fc.constantFrom(...others));
}
/** Generates values of `usual` with the given weight, or of `other`. */
function rarely<T>(weight: number, usual: fc.Arbitrary<T>, other: fc.Arbitrary<T>): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: usual }, { weight: 1, arbitrary: other });
}

const jsonText = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text));
const goodText = fc
  .tuple(jsonText, mostly(1, '', ',"tag":"canary-tag"', ',"tag":""'))
  .map(([name, tag]) => `{"id":${PLANT_ID},"name":${name}${tag},"note":"canary-body"}`);
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
const anyText = fc.string({ unit: 'binary', maxLength: 50 });
const text = fc.oneof(
  goodText,
  goodText,
  goodText,
  oddText,
  oddText,
  jsonValue,
  anyText,
  fc.constant(SMUGGLED_REQUEST),
);

const latin1 = fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }));
const value = fc.string({ unit: latin1.map((code) => String.fromCharCode(code)), maxLength: 20 });
const NAMES =
  'Accept Accept-Encoding Cookie Range If-Match Forwarded X-Forwarded-For X-Forwarded-Host X-HTTP-Method-Override Via Te ' +
  'Trailer Keep-Alive Origin Referer Max-Forwards Content-Language Content-Location Idempotency-Key __proto__ constructor';
const LINES =
  'Expect: 100-continue,Expect: canary,Upgrade: h2c,Connection: Content-Length,Connection: close,Connection: keep-alive';
const name = fc.oneof(fc.constantFrom(...NAMES.split(' ')), fc.stringMatching(/^Y-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/));
const pair = fc.tuple(name, fc.oneof(value, fc.constant('canary'))).map((parts) => parts.join(': '));
const header = fc.oneof(pair, pair, fc.constantFrom(...LINES.split(',')));
/** Header lines; an empty string for none. */
const credential = mostly(
  10,
  GOOD_TOKEN,
  ...['', `${GOOD_TOKEN}x`, 'Authorization: Basic Y2FuYXJ5', `Authorization: bearer   ${TOKEN}`],
  ...[`${GOOD_TOKEN}\r\nAuthorization: Bearer canary-wrong`, `${GOOD_TOKEN}, Bearer ${TOKEN}`],
);
const mediaType = mostly(
  10,
  JSON_TYPE,
  ...['', `${JSON_TYPE}; charset=utf-8`, `${JSON_TYPE}; charset=utf-8; charset=latin1`, 'Content-Type: text/plain'],
  ...[`${JSON_TYPE}\r\nContent-Type: text/plain`, `${JSON_TYPE}; canary="\\"`],
);
/** `undefined` for the actual coding. */
const ENCODINGS = ['identity', 'gzip', 'BR', 'x', 'gzip, br', ''].map((coding) => `Content-Encoding: ${coding}`);
const encoding = mostly(8, undefined, '', ...ENCODINGS);
// Without CONNECT, for which Node closes the connection.
const METHODS = 'GET PUT DELETE PATCH OPTIONS TRACE PROPFIND SEARCH'.split(' ');
const TARGETS =
  '/ /openapi.json /plants/ /PLANTS //plants /plants?canary-query /plants; /plants%00 /../plants http://test/plants ' +
  'http://canary:canary@evil.example:1/plants https://x/openapi.json /plants?<script> * plants file:///plants';

const unambiguous: fc.Arbitrary<HostileRequest> = fc
  .record({
    ...{ text, credential, mediaType, encoding, others: fc.array(header, { maxLength: 4 }) },
    method: mostly(14, 'POST', ...METHODS),
    target: rarely(16, mostly(7, '/plants', ...TARGETS.split(' ')), fc.stringMatching(/^\/[!-~]{0,20}$/)),
    version: mostly(20, 'HTTP/1.1', 'HTTP/1.0'),
    coding: mostly<keyof typeof CODINGS>(4, 'identity', 'gzip', 'deflate', 'br'),
    damage: fc.option(fc.record({ at: fc.nat({ max: 999 }), byte: fc.nat({ max: 255 }) }), { freq: 6, nil: undefined }),
    chunks: fc.option(
      fc.record({
        cuts: fc.array(fc.nat({ max: 1000 }), { maxLength: 5 }),
        extension: mostly(4, '', ';', ';a=b', ';a="b;c"', ';chunked'),
        trailers: mostly(4, '', 'X: y\r\n', 'Content-Length: 7\r\n', 'Authorization: Bearer x\r\nHost: evil\r\n'),
      }),
      { freq: 1, nil: undefined },
    ),
  })
  .map(({ credential, mediaType, encoding, others, ...rest }) => {
    const actual = rest.coding === 'identity' ? '' : `Content-Encoding: ${rest.coding}`;
    const headers = [credential, mediaType, encoding ?? actual, ...others];
    return { ...rest, headers: headers.filter((line) => line !== ''), isAmbiguous: false };
  });
const ambiguous: fc.Arbitrary<HostileRequest> = fc
  .constantFrom(...AMBIGUOUS)
  .map((parts) => ({ ...validCreate, ...parts, isAmbiguous: true }));

/** Generates hostile requests. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = rarely(12, unambiguous, ambiguous);
