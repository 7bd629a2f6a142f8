import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { TOKEN } from '../support/service.js';
import { AMBIGUITIES } from './ambiguities.js';

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
  readonly chunks: Chunks | undefined;
  /** Ambiguity about where the request ends; the response must close the connection. */
  readonly ambiguity: string | undefined;
}

interface Chunks {
  readonly cuts: readonly number[];
  readonly extension: string;
  readonly trailers: string;
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

/** Converts a request to bytes, with its request id and plant id. */
export function toBytes(request: HostileRequest, requestId: string, plantId: bigint): Buffer {
  const { method, target, version, headers, text, coding, damage, chunks, ambiguity } = request;
  const lines = [`${method} ${target} ${version}`, 'Host: test', `X-Request-Id: ${requestId}`, ...headers];
  const head = lines.map((line) => `${line}\r\n`).join('');
  const encoded = CODINGS[coding](Buffer.from(text.replaceAll(PLANT_ID, `${plantId}`)));
  if (damage && encoded.length > 0) encoded[Math.floor((damage.at * encoded.length) / 1000)] = damage.byte;
  const change = ambiguity === undefined ? undefined : AMBIGUITIES[ambiguity];
  const framing = change?.isChunked ? { cuts: [], extension: '', trailers: '' } : chunks;
  const bytes = framing ? inChunks(head, encoded, framing) : sized(head, encoded);
  if (change === undefined) return bytes;
  return Buffer.from(bytes.toString('latin1').replace(change.pattern, change.replacement), 'latin1');
}

function sized(head: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`, 'latin1'), body]);
}

function inChunks(head: string, body: Buffer, { cuts, extension, trailers }: Chunks): Buffer {
  const ends = [...new Set(cuts.map((cut) => Math.floor((cut * body.length) / 1000)))].toSorted((a, b) => a - b);
  const parts: Buffer[] = [Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`, 'latin1')];
  let begin = 0;
  for (const end of [...ends, body.length]) {
    if (end === begin) continue;
    const size = Buffer.from(`${(end - begin).toString(16)}${extension}\r\n`);
    parts.push(size, body.subarray(begin, end), Buffer.from('\r\n'));
    begin = end;
  }
  return Buffer.concat([...parts, Buffer.from(`0${extension}\r\n${trailers}\r\n`)]);
}

const JSON_TYPE = 'Content-Type: application/json';
const GOOD_TOKEN = `Authorization: Bearer ${TOKEN}`;
const validCreate: Omit<HostileRequest, 'text'> = {
  method: 'POST',
  target: '/plants',
  version: 'HTTP/1.1',
  headers: [GOOD_TOKEN, JSON_TYPE],
  coding: 'identity',
  damage: undefined,
  chunks: undefined,
  ambiguity: undefined,
};

/** A valid create that closes its connection. */
export const lastCreate: HostileRequest = {
  ...validCreate,
  headers: [...validCreate.headers, 'Connection: close'],
  text: `{"id":${PLANT_ID},"name":"canary-last"}`,
};

/** Generates `usual` with the given weight, or one of `others`. */
function mostly<T>(weight: number, usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}
/** Generates values of each generator, with its weight. */
function weighted<T>(...all: readonly (readonly [weight: number, arbitrary: fc.Arbitrary<T>])[]): fc.Arbitrary<T> {
  return fc.oneof(...all.map(([weight, arbitrary]) => ({ weight, arbitrary })));
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
const SNIPPETS = ['', '//', 'NaN', 'e9', ...',"{[]}:\\\0\n\ufeff0-', '\ud800'];
const brokenText = fc
  .tuple(fc.oneof(goodText, oddText), fc.nat({ max: 1000 }), fc.nat({ max: 5 }), fc.constantFrom(...SNIPPETS))
  .map(([text, place, length, snippet]) => {
    const at = Math.floor((place * text.length) / 1000);
    return text.slice(0, at) + snippet + text.slice(at + length);
  });
const anyText = fc.string({ unit: 'binary', maxLength: 50 });

const latin1 = fc.oneof(fc.integer({ min: 0x20, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }));
const value = fc.string({ unit: latin1.map((code) => String.fromCharCode(code)), maxLength: 20 });
const NAMES =
  'Accept Accept-Encoding Cookie Range If-Match Forwarded X-Forwarded-For X-Forwarded-Host X-HTTP-Method-Override Via Te ' +
  'Trailer Keep-Alive Origin Referer Max-Forwards Content-Language Content-Location Idempotency-Key __proto__ constructor';
const knownName = fc.constantFrom(...NAMES.split(' '));
const anyName = fc
  .stringMatching(/^X-[!#$%&'*+.^_`|~0-9A-Za-z-]{1,20}$/)
  .filter((name) => !/^x-request-id$/i.test(name));
const header = weighted(
  [4, fc.tuple(knownName, fc.oneof(value, fc.constant('canary-header'))).map((pair) => pair.join(': '))],
  [1, fc.tuple(anyName, value).map((pair) => pair.join(': '))],
  [1, fc.constantFrom('Expect: 100-continue', 'Expect: canary', 'Upgrade: h2c', 'Connection: Content-Length')],
  [1, fc.constantFrom('Connection: close', 'Connection: keep-alive')],
);
const BASIC = 'Authorization: Basic Y2FuYXJ5';
const WRONG = 'Authorization: Bearer canary-wrong';
const credential = mostly<readonly string[]>(
  10,
  [GOOD_TOKEN],
  ...[
    [],
    [WRONG],
    [BASIC],
    [`Authorization: bearer   ${TOKEN}`],
    [GOOD_TOKEN, WRONG],
    [`${GOOD_TOKEN}, Bearer ${TOKEN}`],
  ],
);
const mediaType = mostly<readonly string[]>(
  10,
  [JSON_TYPE],
  ...[
    [],
    [`${JSON_TYPE}; charset=utf-8`],
    [`${JSON_TYPE}; charset=utf-8; charset=latin1`],
    ['Content-Type: text/plain'],
  ],
  ...[[JSON_TYPE, 'Content-Type: text/plain'], [`${JSON_TYPE}; canary="\\"`]],
);
/** Values of Content-Encoding; `undefined` for the actual coding. */
const encoding = mostly<readonly string[] | undefined>(
  8,
  undefined,
  ...[[], ['identity'], ['gzip'], ['BR'], ['x'], ['gzip', 'br'], ['']],
);

// Without CONNECT, for which Node closes the connection.
const METHODS = 'GET PUT DELETE PATCH OPTIONS TRACE PROPFIND SEARCH'.split(' ');
const TARGETS =
  '/ /openapi.json /plants/ /PLANTS //plants /plants?canary-query /plants; /plants%00 /../plants http://test/plants ' +
  'http://canary:canary@evil.example:1/plants https://x/openapi.json /plants?<script> * plants file:///plants';
const target = weighted(
  [14, fc.constant('/plants')],
  [2, fc.constantFrom(...TARGETS.split(' '))],
  [1, fc.stringMatching(/^\/[!-~]{0,20}$/)],
);
const chunks = fc.record({
  cuts: fc.array(fc.nat({ max: 1000 }), { maxLength: 5 }),
  extension: mostly(4, '', ';', ';a=b', ';a="b;c"', ';chunked'),
  trailers: mostly(4, '', 'X: y\r\n', 'Content-Length: 7\r\n', 'Authorization: Bearer x\r\nHost: evil\r\n'),
});

const text = weighted(
  [6, goodText],
  [4, oddText],
  [4, brokenText],
  [2, jsonValue],
  [2, anyText],
  [1, fc.constant(SMUGGLED)],
);

const unambiguous: fc.Arbitrary<HostileRequest> = fc
  .record({
    ...{ target, text, credential, mediaType, encoding },
    method: mostly(14, 'POST', ...METHODS),
    version: mostly(20, 'HTTP/1.1', 'HTTP/1.0'),
    others: fc.array(header, { maxLength: 4 }),
    coding: mostly<keyof typeof CODINGS>(4, 'identity', 'gzip', 'deflate', 'br'),
    damage: fc.option(fc.record({ at: fc.nat({ max: 999 }), byte: fc.nat({ max: 255 }) }), { freq: 6, nil: undefined }),
    chunks: fc.option(chunks, { freq: 1, nil: undefined }),
  })
  .map(({ credential, mediaType, encoding, others, ...rest }) => {
    const codings = encoding ?? (rest.coding === 'identity' ? [] : [rest.coding]);
    const headers = [...credential, ...mediaType, ...codings.map((one) => `Content-Encoding: ${one}`), ...others];
    return { ...rest, headers, ambiguity: undefined };
  });
const ambiguous: fc.Arbitrary<HostileRequest> = fc
  .tuple(text, fc.constantFrom(...Object.keys(AMBIGUITIES)))
  .map(([body, ambiguity]) => ({ ...validCreate, text: body || '{}', ambiguity }));

/** Generates hostile requests. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = weighted([12, unambiguous], [1, ambiguous]);
