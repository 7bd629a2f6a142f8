/** A fault between the client and a correct service. Strings are the bytes of one packet, in Latin-1. */
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

const onErrors = (change: (text: string) => string) => (text: string) =>
  /^HTTP\/1\.1 [45]/.test(text) ? change(text) : text;

/** Faults of a service, by the case that detects each. */
export const httpFaults = (token: string): Readonly<Record<string, HttpFault>> => ({
  'rejects a NewPlant without name': {
    response: onErrors(editBody(() => '<h1>Bad Request</h1>')),
  },
  'rejects a request without a credential': {
    request: (text) =>
      text.includes('\r\nAuthorization:') ? text : text.replace('\r\n', `\r\nAuthorization: Bearer ${token}\r\n`),
  },
  'distinguishes ids beyond 2^53 that round to the same floating-point number': {
    request: editBody((body) =>
      body.replace(/"id":(-?\d+)/, (_, id) => `"id":${BigInt.asIntN(64, BigInt(Number(id)))}`),
    ),
  },
  'stores decomposed characters exactly': {
    request: editBody((body) => body.normalize('NFC')),
  },
  'responds 40001 to a byte that is never UTF-8, in an unknown field': {
    request: (text) => text.replace('"y":"\xff"', '"y":"?"'),
  },
  'responds 40101 to a request without Authorization, and stores nothing': {
    response: (text) => text.replace(/^WWW-Authenticate: .*\r\n/im, ''),
  },
  'sends no message with a token, a stack or a path': {
    response: onErrors(editBody((body) => body.replace('"message":"', `"message":"${token}: `))),
  },
  'responds 40401 to a path in another letter case': {
    request: (text) => text.replace(/\/PLANTS/i, '/plants'),
  },
  'waits for no body, and sends no 100 Continue, without a credential': {
    response: (text, request) => (request.includes('Expect:') ? `HTTP/1.1 100 Continue\r\n\r\n${text}` : text),
  },
  'responds to 16 pipelined requests in order': {
    respond: rejecting(/POST .*POST /s, 40000),
  },
  'responds 40000 to two Content-Lengths, and closes the connection': {
    request: (text) => text.replace('Content-Length: 5\r\n', ''),
  },
});
