import fc from 'fast-check';
import { MALFORMED } from '#contract/http/malformed-http.js';
import { TOKEN } from '../support/service.js';

/** The parts of one request, as plain values, so that a counterexample is readable. */
export interface HostileRequest {
  /** Method, target and version. */
  readonly line: string;
  /** The header lines after Host and X-Request-Id. */
  readonly headers: readonly string[];
  /** The body, with {@link PLANT_ID} in place of the id. */
  readonly text: string;
  /** The extension and the trailers of a body in two chunks; absent for a body with Content-Length. */
  readonly chunks?: { readonly extension: string; readonly trailers: string } | undefined;
  /** The case of the HTTP contract that makes the request malformed. */
  readonly malformed?: string;
}

/** Placeholder for the id in a body. */
const PLANT_ID = '@id@';

/** Converts a request to bytes. Its request id is `fuzz-` and the id of the plant. */
export function toBytes({ line, headers, text, chunks, malformed }: HostileRequest, id: bigint): Buffer {
  // One character per byte.
  const body = Buffer.from(text.replaceAll(PLANT_ID, `${id}`)).toString('latin1');
  const head = [line, 'Host: test', `X-Request-Id: fuzz-${id}`, ...headers].join('\r\n');
  if (chunks === undefined) {
    const request = `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    return Buffer.from(MALFORMED[malformed ?? '']?.(request) ?? request, 'latin1');
  }
  const middle = body.length >> 1;
  const parts = [body.slice(0, middle), body.slice(middle)].filter((part) => part !== '');
  const framed = parts.map((part) => `${part.length.toString(16)}${chunks.extension}\r\n${part}\r\n`).join('');
  const last = `0${chunks.extension}\r\n${chunks.trailers}\r\n`;
  return Buffer.from(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n${framed}${last}`, 'latin1');
}

const JSON_TYPE = 'Content-Type: application/json';
const GOOD_TOKEN = `Authorization: Bearer ${TOKEN}`;

/** A valid create that closes its connection. */
export const lastCreate: HostileRequest = {
  line: 'POST /plants HTTP/1.1',
  headers: [GOOD_TOKEN, JSON_TYPE, 'Connection: close'],
  text: `{"id":${PLANT_ID},"name":"canary-last"}`,
};

const SMUGGLED = '{"id":-77,"name":"smuggled"}';
/** A complete request inside the body of another one. */
const SMUGGLED_REQUEST =
  `POST /plants HTTP/1.1\r\nHost: test\r\nX-Request-Id: smuggled\r\n${GOOD_TOKEN}\r\n${JSON_TYPE}\r\n` +
  `Content-Length: ${SMUGGLED.length}\r\n\r\n${SMUGGLED}`;

/** Generates `usual` with the given weight, or one of `others`. */
function mostly<T>(weight: number, usual: T, ...others: readonly T[]): fc.Arbitrary<T> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const goodText = fc
  .tuple(fc.string({ unit: 'binary', maxLength: 12 }), mostly(1, '', ',"tag":"canary-tag"', ',"tag":""'))
  .map(([name, tag]) => `{"id":${PLANT_ID},"name":${JSON.stringify(name)}${tag},"note":"canary-body"}`);
const badText = fc.constantFrom(
  ...['[['.repeat(50), '{"id":1.5,"name":"canary-text"}', '{"__proto__":{}}', SMUGGLED_REQUEST],
);
const anyText = fc.string({ unit: 'binary', maxLength: 50 });
/** Header lines, in addition to a valid credential and the media type. */
const header = fc.oneof(
  fc.constantFrom('Expect: 100-continue', 'Expect: canary', 'Upgrade: h2c', 'Connection: Content-Length'),
  fc.constantFrom('Connection: close', 'X-HTTP-Method-Override: GET', '__proto__: canary', 'Y: "\\\xe9\xff'),
  fc.stringMatching(/^Y-[!#$%&'*+.^_`|~\w-]{1,20}: [ -~]{0,20}$/),
);
// Without CONNECT, for which Node closes the connection.
const method = mostly(14, 'POST', ...'GET PUT DELETE PATCH OPTIONS TRACE PROPFIND SEARCH'.split(' '));
const TARGETS =
  '/ /openapi.json /plants/ /PLANTS //plants /plants?canary-query /plants; /plants%00 /../plants http://test/plants ' +
  'http://canary:canary@evil.example:1/plants /plants?<script> * plants file:///plants';

const wellFormed: fc.Arbitrary<HostileRequest> = fc.record({
  line: fc
    .tuple(method, mostly(7, '/plants', ...TARGETS.split(' ')), mostly(20, 'HTTP/1.1', 'HTTP/1.0'))
    .map((parts) => parts.join(' ')),
  headers: fc
    .tuple(
      mostly(10, GOOD_TOKEN, '', `${GOOD_TOKEN}x`, 'Authorization: Basic Y2FuYXJ5', `${GOOD_TOKEN}, Bearer ${TOKEN}`),
      mostly(10, JSON_TYPE, '', `${JSON_TYPE}; charset=x; canary="\\"`, 'Content-Type: text/plain'),
      mostly(8, '', ...['identity', 'gzip', 'BR', 'x', 'gzip, br'].map((each) => `Content-Encoding: ${each}`)),
      fc.array(header, { maxLength: 4 }),
    )
    .map((lines) => lines.flat().filter((line) => line !== '')),
  text: fc.oneof(
    { weight: 4, arbitrary: goodText },
    { weight: 2, arbitrary: badText },
    { weight: 1, arbitrary: anyText },
  ),
  chunks: fc.option(
    fc.record({
      extension: mostly(4, '', ';', ';a=b', ';a="b;c"', ';chunked'),
      trailers: mostly(4, '', 'X: y\r\n', 'Content-Length: 7\r\n', 'Authorization: Bearer x\r\nHost: evil\r\n'),
    }),
    { freq: 1, nil: undefined },
  ),
});
const malformed: fc.Arbitrary<HostileRequest> = fc
  .constantFrom(...Object.keys(MALFORMED))
  .map((malformed) => ({ ...lastCreate, headers: [GOOD_TOKEN, JSON_TYPE], text: SMUGGLED, malformed }));

/** Generates hostile requests. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 12, arbitrary: wellFormed },
  { weight: 1, arbitrary: malformed },
);
