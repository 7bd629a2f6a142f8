import fc from 'fast-check';
import { MALFORMED } from '#contract/http/malformed-http.js';
import { createRequest } from '../support/client.js';
import { TOKEN } from '../support/service.js';

/** A request, with one character per byte. */
export interface HostileRequest {
  /** With {@link ID} in place of the id of its plant. Its request id is `fuzz-` and that id. */
  readonly bytes: string;
  readonly isMalformed: boolean;
}

/** Placeholder for an id, with as many digits as each id, so that the length of a body is known. */
export const ID = '9999999999999';
export const FIRST_ID = 10n ** 12n;

const CREATE = 'POST /plants HTTP/1.1';
const JSON_TYPE = 'Content-Type: application/json';
const GOOD_TOKEN = `Authorization: Bearer ${TOKEN}`;

/** Builds a request, with its body in two chunks if it has an extension of the chunks and trailers. */
function toRequest([line, ...headers]: readonly string[], text: string, chunks?: readonly string[]): string {
  const body = Buffer.from(text).toString('latin1');
  const lines = [line, 'Host: test', `X-Request-Id: fuzz-${ID}`, ...headers];
  const head = lines.map((each) => `${each}\r\n`).join('');
  if (chunks === undefined) return `${head}Content-Length: ${body.length}\r\n\r\n${body}`;
  const [extension, trailers] = chunks;
  const middle = body.length >> 1;
  // An empty part would end the body.
  const parts = [body.slice(0, middle), body.slice(middle)].filter((part) => part !== '');
  const framed = [...parts, ''].map((part) => `${part.length.toString(16)}${extension}\r\n${part}`);
  return `${head}Transfer-Encoding: chunked\r\n\r\n${framed.join('\r\n')}${trailers}\r\n`;
}

/** A valid create that closes its connection. */
export const lastCreate: HostileRequest = {
  bytes: toRequest([CREATE, GOOD_TOKEN, JSON_TYPE, 'Connection: close'], `{"id":${ID},"name":"canary-last"}`),
  isMalformed: false,
};

/** Generates `usual` with the given weight, or one of `others`. */
function mostly(weight: number, usual: string, ...others: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
}

const TARGETS =
  '/ /openapi.json /plants/ /PLANTS //plants /plants?canary-query /plants; /plants%00 /../plants http://test/plants ' +
  'http://canary:canary@evil.example:1/plants /plants?<script> * plants file:///plants';
const startLine = fc.tuple(
  // Without CONNECT, for which Node closes the connection.
  mostly(14, 'POST', 'GET', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'SEARCH'),
  mostly(7, '/plants', ...TARGETS.split(' ')),
  mostly(20, 'HTTP/1.1', 'HTTP/1.0'),
);
const anyHeader = fc.oneof(
  fc.constantFrom('Expect: 100-continue', 'Expect: canary', 'Upgrade: h2c', 'Connection: Content-Length'),
  fc.constantFrom('Connection: close', 'X-HTTP-Method-Override: GET', '__proto__: canary', 'Y: "\\\xe9\xff'),
  fc.stringMatching(/^Y-[!#$%&'*+.^_`|~\w-]{1,20}: [ -~]{0,20}$/),
);
const headers = fc.tuple(
  mostly(10, GOOD_TOKEN, '', `${GOOD_TOKEN}x`, 'Authorization: Basic Y2FuYXJ5', `${GOOD_TOKEN}, Bearer ${TOKEN}`),
  mostly(10, JSON_TYPE, '', `${JSON_TYPE}; charset=x; canary="\\"`, 'Content-Type: text/plain'),
  mostly(8, '', 'Content-Encoding: identity', 'Content-Encoding: gzip', 'Content-Encoding: gzip, br'),
  fc.array(anyHeader, { maxLength: 4 }),
);
const tag = mostly(1, '', ',"tag":"canary-tag"', ',"tag":""');
const plant = fc
  .tuple(fc.string({ unit: 'binary', maxLength: 12 }), tag)
  .map(([name, tag]) => `{"id":${ID},"name":${JSON.stringify(name)}${tag},"note":"canary-body"}`);
/** A complete request inside the body of another one. */
const smuggled = createRequest({ id: -77n, name: 'smuggled' }, { 'X-Request-Id': 'smuggled' }).toString();
const body = fc.oneof(
  { weight: 4, arbitrary: plant },
  { weight: 2, arbitrary: mostly(1, smuggled, '[['.repeat(50), '{"id":1.5,"name":"canary"}', '{"__proto__":{}}') },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 50 }) },
);
const chunks = fc.tuple(
  mostly(4, '', ';', ';a=b', ';a="b;c"', ';chunked'),
  mostly(4, '', 'X: y\r\n', 'Content-Length: 7\r\n', 'Authorization: Bearer x\r\nHost: evil\r\n'),
);
const wellFormed = fc
  .tuple(startLine, headers, body, fc.option(chunks, { freq: 1, nil: undefined }))
  .map(([line, headers, body, chunks]) => {
    const lines = [line.join(' '), ...headers.flat().filter((header) => header !== '')];
    return { bytes: toRequest(lines, body, chunks), isMalformed: false };
  });
const smuggledCreate = toRequest([CREATE, GOOD_TOKEN, JSON_TYPE], '{"id":-77,"name":"smuggled"}');
const malformed = fc
  .constantFrom(...Object.values(MALFORMED))
  .map((change) => ({ bytes: change(smuggledCreate), isMalformed: true }));

/** Generates hostile requests. */
export const hostileRequest: fc.Arbitrary<HostileRequest> = fc.oneof(
  { weight: 12, arbitrary: wellFormed },
  { weight: 1, arbitrary: malformed },
);
