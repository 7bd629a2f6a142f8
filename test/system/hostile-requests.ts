import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { BAD_CHUNKS, CHANGES } from '../contract/http/malformed-http.js';
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
  /** The case of the HTTP contract that makes the request malformed. */
  readonly malformed: keyof typeof MALFORMED | undefined;
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
  const { method, target, version, headers, text, coding, damage, chunks, malformed } = request;
  const lines = [`${method} ${target} ${version}`, 'Host: test', `X-Request-Id: ${requestId}`, ...headers];
  const body = CODINGS[coding](Buffer.from(text.replaceAll(PLANT_ID, `${plantId}`)));
  if (damage && body.length > 0) body[Math.floor((damage.at * body.length) / 1000)] = damage.byte;
  const withHead = (framing: readonly string[], parts: readonly Buffer[]) =>
    Buffer.concat([Buffer.from(`${[...lines, ...framing].join('\r\n')}\r\n\r\n`, 'latin1'), ...parts]);
  if (chunks === undefined) {
    const bytes = withHead([`Content-Length: ${body.length}`], [body]);
    const change = malformed && MALFORMED[malformed];
    return change ? Buffer.from(change(bytes.toString('latin1')), 'latin1') : bytes;
  }
  const framed = split(body, chunks.cuts).flatMap((part) => [
    Buffer.from(`${part.length.toString(16)}${chunks.extension}\r\n`),
    part,
    Buffer.from('\r\n'),
  ]);
  const last = Buffer.from(`0${chunks.extension}\r\n${chunks.trailers}\r\n`);
  return withHead(['Transfer-Encoding: chunked'], [...framed, last]);
}

/** Splits bytes into parts that are not empty. The cuts are in thousandths of the length. */
export function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = cuts.map((cut) => Math.floor((cut * bytes.length) / 1000)).toSorted((a, b) => a - b);
  const parts = [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  return parts.filter(({ length }) => length > 0);
}

const JSON_TYPE = 'Content-Type: application/json';
const GOOD_TOKEN = `Authorization: Bearer ${TOKEN}`;
const validCreate: HostileRequest = {
  ...{ method: 'POST', target: '/plants', version: 'HTTP/1.1', headers: [GOOD_TOKEN, JSON_TYPE] },
  ...{ text: '', coding: 'identity', damage: undefined, chunks: undefined, malformed: undefined },
};

/** A valid create that closes its connection. */
export const lastCreate: HostileRequest = {
  ...validCreate,
  headers: [...validCreate.headers, 'Connection: close'],
  text: `{"id":${PLANT_ID},"name":"canary-last"}`,
};

/** A complete request inside the body of another one. */
const SMUGGLED_REQUEST =
  `POST /plants HTTP/1.1\r\nHost: test\r\nX-Request-Id: smuggled\r\n${GOOD_TOKEN}\r\n${JSON_TYPE}\r\n` +
  'Content-Length: 28\r\n\r\n{"id":-77,"name":"smuggled"}';

/** Changes to a valid request that make it malformed: the cases of the HTTP contract. */
const MALFORMED: Readonly<Record<string, (request: string) => string>> = {
  ...CHANGES,
  ...Object.fromEntries(
    Object.entries(BAD_CHUNKS).map(([what, chunks]) => [
      `a chunk with ${what}`,
      (request: string) =>
        request.replace(/Content-Length[\s\S]*/, `Transfer-Encoding: chunked\r\n\r\n${chunks}${SMUGGLED_REQUEST}`),
    ]),
  ),
};

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

const wellFormed: fc.Arbitrary<HostileRequest> = fc
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
    return { ...rest, headers: headers.filter((line) => line !== ''), malformed: undefined };
  });
const malformed: fc.Arbitrary<HostileRequest> = fc
  .constantFrom(...Object.keys(MALFORMED))
  .map((what) => ({ ...validCreate, text: '{"id":-77,"name":"smuggled"}', malformed: what }));

/** Generates hostile requests. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = rarely(12, wellFormed, malformed);
