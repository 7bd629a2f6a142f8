import fc from 'fast-check';
import { MALFORMED } from '../contract/http/malformed-http.js';
import { TOKEN } from '../support/service.js';

/** The parts of one request, as plain values, so that a counterexample is readable. */
export interface HostileRequest {
  /** Method, target and version. */
  readonly line: string;
  /** The header lines after Host and X-Request-Id. */
  readonly headers: readonly string[];
  /** The body, with {@link PLANT_ID} in place of the id. */
  readonly text: string;
  /** Chunk boundaries in thousandths of the length; `undefined` for a body with Content-Length. */
  readonly chunks?:
    | { readonly cuts: readonly number[]; readonly extension: string; readonly trailers: string }
    | undefined;
  /** The case of the HTTP contract that makes the request malformed. */
  readonly malformed?: string;
}

/** Placeholder for the id in a body. */
const PLANT_ID = '@id@';

/** Converts a request to bytes. Its request id is `fuzz-` and the id of the plant. */
export function toBytes(request: HostileRequest, id: bigint): Buffer {
  const { line, headers, text, chunks, malformed } = request;
  const body = Buffer.from(text.replaceAll(PLANT_ID, `${id}`));
  const withHead = (framing: string, parts: readonly Buffer[]) => {
    const head = [line, 'Host: test', `X-Request-Id: fuzz-${id}`, ...headers, framing].join('\r\n');
    return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), ...parts]);
  };
  if (chunks === undefined) {
    const bytes = withHead(`Content-Length: ${body.length}`, [body]);
    const change = MALFORMED[malformed ?? ''];
    return change ? Buffer.from(change(bytes.toString('latin1')), 'latin1') : bytes;
  }
  const framed = split(body, chunks.cuts).flatMap((part) => [
    Buffer.from(`${part.length.toString(16)}${chunks.extension}\r\n`),
    part,
    Buffer.from('\r\n'),
  ]);
  const last = Buffer.from(`0${chunks.extension}\r\n${chunks.trailers}\r\n`);
  return withHead('Transfer-Encoding: chunked', [...framed, last]);
}

/** Splits bytes into parts that are not empty. The cuts are in thousandths of the length. */
export function split(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = cuts.map((cut) => Math.floor((cut * bytes.length) / 1000)).toSorted((a, b) => a - b);
  const parts = [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
  return parts.filter(({ length }) => length > 0);
}

const JSON_TYPE = 'Content-Type: application/json';
const GOOD_TOKEN = `Authorization: Bearer ${TOKEN}`;

/** A valid create that closes its connection. */
export const lastCreate: HostileRequest = {
  line: 'POST /plants HTTP/1.1',
  headers: [GOOD_TOKEN, JSON_TYPE, 'Connection: close'],
  text: `{"id":${PLANT_ID},"name":"canary-last"}`,
};

/** A complete request inside the body of another one. */
const SMUGGLED_REQUEST =
  `POST /plants HTTP/1.1\r\nHost: test\r\nX-Request-Id: smuggled\r\n${GOOD_TOKEN}\r\n${JSON_TYPE}\r\n` +
  'Content-Length: 28\r\n\r\n{"id":-77,"name":"smuggled"}';

/** Generates `usual` with the given weight, or one of `others`. */
function mostly<T>(weight: number, usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const jsonText = fc.string({ unit: 'binary', maxLength: 12 }).map((text) => JSON.stringify(text));
const goodText = fc
  .tuple(jsonText, mostly(1, '', ',"tag":"canary-tag"', ',"tag":""'))
  .map(([name, tag]) => `{"id":${PLANT_ID},"name":${name}${tag},"note":"canary-body"}`);
const anyText = fc.string({ unit: 'binary', maxLength: 50 });
const badText = fc.constantFrom(
  '[['.repeat(50),
  `{"id":1.5,"name":"canary-text"}`,
  '{"__proto__":{}}',
  SMUGGLED_REQUEST,
);
const text = fc.oneof(
  { weight: 4, arbitrary: goodText },
  { weight: 2, arbitrary: badText },
  { weight: 1, arbitrary: anyText },
);

/** Header lines, in addition to a valid credential and the media type; an empty string for none. */
const HEADERS =
  'Expect: 100-continue,Expect: canary,Upgrade: h2c,Connection: Content-Length,Connection: close,' +
  'X-HTTP-Method-Override: GET,__proto__: canary,Y: "\\\xe9\xff';
const header = fc.oneof(
  fc.constantFrom(...HEADERS.split(',')),
  fc.stringMatching(/^Y-[!#$%&'*+.^_`|~\w-]{1,20}: [ -~]{0,20}$/),
);
const credential = mostly(
  10,
  GOOD_TOKEN,
  ...['', `${GOOD_TOKEN}x`, 'Authorization: Basic Y2FuYXJ5', `Authorization: bearer   ${TOKEN}`],
  ...[`${GOOD_TOKEN}\r\nAuthorization: Bearer canary-wrong`, `${GOOD_TOKEN}, Bearer ${TOKEN}`],
);
const mediaType = mostly(10, JSON_TYPE, '', `${JSON_TYPE}; charset=x; canary="\\"`, 'Content-Type: text/plain');
const encoding = mostly(
  8,
  '',
  ...['identity', 'gzip', 'BR', 'x', 'gzip, br'].map((each) => `Content-Encoding: ${each}`),
);
// Without CONNECT, for which Node closes the connection.
const method = mostly(14, 'POST', ...'GET PUT DELETE PATCH OPTIONS TRACE PROPFIND SEARCH'.split(' '));
const TARGETS =
  '/ /openapi.json /plants/ /PLANTS //plants /plants?canary-query /plants; /plants%00 /../plants http://test/plants ' +
  'http://canary:canary@evil.example:1/plants /plants?<script> * plants file:///plants';
const target = mostly(7, '/plants', ...TARGETS.split(' '));

const wellFormed: fc.Arbitrary<HostileRequest> = fc
  .record({
    ...{ method, target, version: mostly(20, 'HTTP/1.1', 'HTTP/1.0'), text, credential, mediaType, encoding },
    others: fc.array(header, { maxLength: 4 }),
    chunks: fc.option(
      fc.record({
        cuts: fc.array(fc.nat({ max: 1000 }), { maxLength: 5 }),
        extension: mostly(4, '', ';', ';a=b', ';a="b;c"', ';chunked'),
        trailers: mostly(4, '', 'X: y\r\n', 'Content-Length: 7\r\n', 'Authorization: Bearer x\r\nHost: evil\r\n'),
      }),
      { freq: 1, nil: undefined },
    ),
  })
  .map(({ method, target, version, credential, mediaType, encoding, others, ...body }) => {
    const headers = [credential, mediaType, encoding, ...others];
    return { line: `${method} ${target} ${version}`, headers: headers.filter((line) => line !== ''), ...body };
  });
const malformed: fc.Arbitrary<HostileRequest> = fc.constantFrom(...Object.keys(MALFORMED)).map((malformed) => {
  const text = '{"id":-77,"name":"smuggled"}';
  return { ...lastCreate, headers: [GOOD_TOKEN, JSON_TYPE], text, malformed };
});

/** Generates hostile requests. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 12, arbitrary: wellFormed },
  { weight: 1, arbitrary: malformed },
);
