import type { Faults } from './repositories.js';

/** A fault between the client and a correct service. Texts are the bytes of one packet, in Latin-1. */
export interface HttpFault {
  /** Changes what the client sends. */
  readonly request?: (text: string) => string;
  /** Responds in place of the service. */
  readonly respond?: (request: string) => string | undefined;
  /** Changes what the service sends to this request. */
  readonly response?: (text: string, request: string) => string;
}

/** Changes the body of a message, which is one packet. Its UTF-8 bytes are given in Latin-1. */
const editBody = (change: (body: string) => string) => (text: string) => {
  const [head = '', body = ''] = text.split('\r\n\r\n', 2);
  const changed = Buffer.from(change(Buffer.from(body, 'latin1').toString()), 'utf8').toString('latin1');
  return `${head.replace(/^Content-Length: .*$/im, `Content-Length: ${changed.length}`)}\r\n\r\n${changed}`;
};

/** Responds with an error to requests that match. */
const rejecting = (pattern: RegExp, error: number) => (request: string) => {
  if (!pattern.test(request)) return undefined;
  const body = `{"error":${error},"message":"rejected"}`;
  const head = `HTTP/1.1 ${Math.trunc(error / 100)} Rejected\r\nContent-Type: application/json\r\nConnection: close`;
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
};

const withoutHeader = (name: string) => (text: string) => text.replace(new RegExp(`^${name}: .*\r\n`, 'im'), '');
const isError = (text: string) => /^HTTP\/1\.1 [45]/.test(text);
const onErrors = (change: (text: string) => string) => (text: string) => (isError(text) ? change(text) : text);
const onPlants = (change: (text: string) => string) => (text: string) => (isError(text) ? text : change(text));

/** Faults by the case that detects them. */
export const httpFaults = (token: string): Faults<HttpFault> => ({
  'creates a plant with name and tag': {
    'sends 201': { response: (text) => text.replace('HTTP/1.1 200', 'HTTP/1.1 201') },
  },
  'returns the name of the plant': {
    'returns it in lower case': { response: onPlants(editBody((body) => body.toLowerCase())) },
  },
  'sends an Error object with every 400': {
    'sends errors as HTML': { response: onErrors(editBody(() => '<h1>Bad Request</h1>')) },
  },
  'rejects a request without a credential': {
    'needs none': {
      request: (text) =>
        text.includes('\r\nAuthorization:') ? text : text.replace('\r\n', `\r\nAuthorization: Bearer ${token}\r\n`),
    },
  },
  'returns exactly the name if the request has no tag': {
    'returns an empty tag': {
      response: onPlants(editBody((body) => body.replace(/(?<!"tag":"[^"]*")\}/, ',"tag":""}'))),
    },
  },
  'distinguishes ids beyond 2^53 that round to the same floating-point number': {
    'converts ids to floating-point numbers': {
      request: editBody((body) =>
        body.replace(/"id":(-?\d+)/, (_, id) => `"id":${BigInt.asIntN(64, BigInt(Number(id)))}`),
      ),
    },
  },
  'accepts the id -9223372036854775808': {
    'rejects negative ids': { respond: rejecting(/"id":-/, 40002) },
  },
  'stores decomposed characters exactly': {
    'normalises strings': { request: editBody((body) => body.normalize('NFC')) },
  },
  'responds 40902 to an identical plant with a tag': {
    'sends 40901': { response: (text) => text.replace('"error":40902', '"error":40901') },
  },
  'responds 40001 to invalid JSON: with a byte that is never UTF-8, in an unknown field': {
    'replaces invalid UTF-8': { request: (text) => text.replace('"y":"\xff"', '"y":"?"') },
  },
  'accepts Content-Encoding: gzip': {
    'ignores Content-Encoding': { request: withoutHeader('Content-Encoding') },
  },
  'sends WWW-Authenticate with 40101': {
    'sends none': { response: withoutHeader('WWW-Authenticate') },
  },
  'sends no message with a token, a stack or a path': {
    'sends the token': { response: onErrors(editBody((body) => body.replace('"message":"', `"message":"${token}: `))) },
  },
  'responds 41501 to Content-Type: application/json; charset=latin1': {
    'ignores the charset': { request: (text) => text.replace('; charset=latin1', '') },
  },
  'responds 40401 to the path /PLANTS': {
    'ignores the letter case of paths': { request: (text) => text.replace('/PLANTS', '/plants') },
  },
  'checks the path before the credential': {
    'checks the credential first': { respond: rejecting(/^(?!.*Authorization)/s, 40101) },
  },
  'responds 40000 to a request without Host, and closes the connection': {
    'adds a Host': { request: (text) => text.replace(/^(POST .*\r\n)(?!Host:)/, '$1Host: test\r\n') },
  },
  'does not send 100 Continue for a request with no credential': {
    'sends it before it checks the credential': {
      response: (text, request) => (request.includes('Expect:') ? `HTTP/1.1 100 Continue\r\n\r\n${text}` : text),
    },
  },
  'responds to pipelined requests in order': {
    'rejects pipelined requests': { respond: rejecting(/POST .*POST /s, 40000) },
  },
  'describes the HTTP API under the MIT license in OpenAPI 3.1.0 at /openapi.json, without a credential': {
    'describes it in OpenAPI 3.0': { response: (text) => text.replace('"openapi":"3.1.0"', '"openapi":"3.0.3"') },
  },
});
