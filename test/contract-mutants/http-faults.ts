/** A fault between the client and a correct service. Texts are the bytes of one packet, in Latin-1. */
export interface HttpFault {
  readonly fault: string;
  /** The case that must catch the fault. */
  readonly caughtBy: string;
  /** Changes what the client sends. */
  readonly request?: (text: string) => string;
  /** Responds in place of the service. */
  readonly respond?: (request: string) => string | undefined;
  /** Changes what the service sends to this request. */
  readonly response?: (text: string, request: string) => string;
  /** Whether connections stay open that the service closes. */
  readonly keepsOpen?: boolean;
  /** Settings of the service. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** Changes the body of a response, which is one packet. */
function editBody(change: (body: string) => string): (text: string) => string {
  return (text) => {
    const [head = '', body = ''] = text.split('\r\n\r\n', 2);
    const changed = change(body);
    return `${head.replace(/^Content-Length: .*$/im, `Content-Length: ${changed.length}`)}\r\n\r\n${changed}`;
  };
}

/** Changes the id in a request. */
function editId(change: (id: bigint) => bigint): (text: string) => string {
  const replaceId = (text: string) => text.replace(/"id":(-?\d+)/, (_, id) => `"id":${change(BigInt(id))}`);
  return (text) => {
    const changed = replaceId(text);
    return changed.replace(/Content-Length: (\d+)/, (_, length) => {
      return `Content-Length: ${Number(length) + changed.length - text.length}`;
    });
  };
}

/** Changes the names and tags in a request. Its UTF-8 bytes are given in Latin-1. */
function editTexts(change: (text: string) => string): (text: string) => string {
  return (request) => {
    const [head = '', body = ''] = request.split('\r\n\r\n', 2);
    const json = Buffer.from(body, 'latin1').toString('utf8');
    const edited = json.replaceAll(/(?<="(?:name|tag)":)"(?:[^"\\]|\\.)*"/g, (text) =>
      JSON.stringify(change(JSON.parse(text))),
    );
    const bytes = Buffer.from(edited, 'utf8').toString('latin1');
    return `${head.replace(/Content-Length: .*/, `Content-Length: ${bytes.length}`)}\r\n\r\n${bytes}`;
  };
}

/** Returns a response with an Error object. */
function errorResponse(error: number): string {
  const body = `{"error":${error},"message":"rejected"}`;
  const head = `HTTP/1.1 ${Math.trunc(error / 100)} Rejected\r\nContent-Type: application/json\r\nConnection: close`;
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

/** Sends the two responses to two pipelined requests in reverse order. */
function swapPairs(): (text: string, request: string) => string {
  let held = '';
  return (text, request) => {
    if (request.split('POST ').length <= 2) return text;
    const swapped = held === '' ? '' : text + held;
    held = held === '' ? text : '';
    return swapped;
  };
}

const withoutHeader = (name: string) => (text: string) => text.replace(new RegExp(`^${name}: .*\r\n`, 'im'), '');
const isError = (text: string) => /^HTTP\/1\.1 [45]/.test(text);
const onErrors = (change: (text: string) => string) => (text: string) => (isError(text) ? change(text) : text);
const onPlants = (change: (text: string) => string) => (text: string) => (isError(text) ? text : change(text));

export const httpFaults = (token: string): readonly HttpFault[] => [
  {
    fault: 'sends 201 for a created plant',
    caughtBy: 'creates a plant with name and tag',
    response: (text) => text.replace('HTTP/1.1 200', 'HTTP/1.1 201'),
  },
  {
    fault: 'requires a tag',
    caughtBy: 'creates a plant without tag',
    respond: (request) => (request.includes('"tag"') ? undefined : errorResponse(40002)),
  },
  {
    fault: 'returns the name in lower case',
    caughtBy: 'returns the name of the plant',
    response: onPlants(editBody((body) => body.toLowerCase())),
  },
  {
    fault: 'does not return the tag',
    caughtBy: 'returns the tag of the plant',
    response: onPlants(editBody((body) => body.replace(/,"tag":"[^"]*"/, ''))),
  },
  {
    fault: 'returns the tag null if the request has no tag',
    caughtBy: 'returns a string tag, or none, if the request has no tag',
    response: onPlants(editBody((body) => body.replace(/^\{"name":"[^"]*"/, '$&,"tag":null'))),
  },
  {
    fault: 'returns an empty tag if the request has no tag',
    caughtBy: 'returns exactly the name if the request has no tag',
    response: onPlants(editBody((body) => body.replace(/^\{"name":"[^"]*"(?=\})/, '$&,"tag":""'))),
  },
  {
    fault: 'returns the id',
    caughtBy: 'does not return the id',
    response: onPlants(editBody((body) => body.replace('{', '{"id":1,'))),
  },
  {
    fault: 'sends plants as text/plain',
    caughtBy: 'sends a Plant as application/json',
    response: (text) => text.replace('application/json', 'text/plain'),
  },
  {
    fault: 'sends a charset',
    caughtBy: 'sends application/json without parameters',
    response: (text) => text.replace('application/json', 'application/json; charset=utf-8'),
  },
  {
    fault: 'sends errors as HTML',
    caughtBy: 'sends an Error object with every 400',
    response: onErrors(editBody(() => '<h1>Bad Request</h1>')),
  },
  {
    fault: 'sends the error number as a string',
    caughtBy: 'sends an Error object with every 400',
    response: onErrors(editBody((body) => body.replace(/"error":(\d+)/, '"error":"$1"'))),
  },
  {
    fault: 'sends errors without a message',
    caughtBy: 'sends an Error object with every 400',
    response: onErrors(editBody((body) => body.replace(/,"message":.*/, '}'))),
  },
  {
    fault: 'does not check tokens',
    caughtBy: 'rejects a request with an invalid token',
    request: (text) => text.replace(/^Authorization: Bearer .*$/m, `Authorization: Bearer ${token}`),
  },
  {
    fault: 'needs no credential',
    caughtBy: 'rejects a request without a credential',
    request: (text) =>
      text.includes('\r\nAuthorization:') ? text : text.replace('\r\n', `\r\nAuthorization: Bearer ${token}\r\n`),
  },
  {
    fault: 'converts ids to floating-point numbers',
    caughtBy: 'distinguishes ids beyond 2^53 that round to the same floating-point number',
    request: editId((id) => BigInt.asIntN(64, BigInt(Number(id)))),
  },
  {
    fault: 'truncates ids to 32 bits',
    caughtBy: 'distinguishes ids beyond 2^32 that end in the same 32 bits',
    request: editId((id) => BigInt.asIntN(32, id)),
  },
  {
    fault: 'drops the sign of ids',
    caughtBy: 'distinguishes an id from its negative',
    request: editId((id) => (id < 0n ? -id : id)),
  },
  {
    fault: 'rejects the id 1.0',
    caughtBy: 'accepts an id spelled like 1.0',
    respond: (request) => (/"id":-?\d+\.0[,}]/.test(request) ? errorResponse(40002) : undefined),
  },
  {
    fault: 'rejects negative ids',
    caughtBy: 'accepts the id -9223372036854775808',
    respond: (request) => (/"id":-/.test(request) ? errorResponse(40002) : undefined),
  },
  {
    fault: 'trims texts',
    caughtBy: 'stores leading and trailing whitespace exactly',
    request: editTexts((text) => text.trim()),
  },
  {
    fault: 'normalises texts',
    caughtBy: 'stores decomposed characters exactly',
    request: editTexts((text) => text.normalize('NFC')),
  },
  {
    fault: 'sends 200 for an id that another plant holds',
    caughtBy: 'rejects a plant with the same id but another name with 40901',
    response: (text) => text.replace('HTTP/1.1 409', 'HTTP/1.1 200'),
  },
  {
    fault: 'sends 40901 for an identical plant',
    caughtBy: 'rejects an identical plant with a tag with 40902',
    response: (text) => text.replace('"error":40902', '"error":40901'),
  },
  {
    fault: 'sends 40001 for an invalid NewPlant',
    caughtBy: 'rejects an invalid NewPlant with 40002: with tag null',
    response: (text) => text.replace('"error":40002', '"error":40001'),
  },
  {
    fault: 'replaces invalid UTF-8',
    caughtBy: 'rejects invalid JSON with 40001: with a byte that is never UTF-8, in an unknown field',
    request: (text) => text.replace('"y":"\xff"', '"y":"?"'),
  },
  {
    fault: 'ignores the charset of a request',
    caughtBy: 'rejects Content-Type: application/json; charset=latin1 with 41501',
    request: (text) => text.replace('; charset=latin1', ''),
  },
  {
    fault: 'ignores Content-Encoding',
    caughtBy: 'accepts Content-Encoding: gzip',
    request: withoutHeader('Content-Encoding'),
  },
  {
    fault: 'accepts Content-Encoding only in lower case',
    caughtBy: 'accepts Content-Encoding: BR',
    request: (text) => text.replace('Content-Encoding: BR', 'Content-Encoding: unknown'),
  },
  {
    fault: 'accepts bodies of more than 1 MiB',
    caughtBy: 'rejects a body of 1 MiB and a byte with a Content-Length with 41301',
    environment: { BODY_LIMIT: '2mb' },
  },
  {
    fault: 'sends no WWW-Authenticate',
    caughtBy: 'sends WWW-Authenticate with 40101',
    response: withoutHeader('WWW-Authenticate'),
  },
  {
    fault: 'sends no Allow',
    caughtBy: 'rejects GET /plants with 40501 and Allow',
    response: withoutHeader('Allow'),
  },
  {
    fault: 'ignores the letter case of paths',
    caughtBy: 'rejects the path /PLANTS with 40401',
    request: (text) => text.replace('/PLANTS', '/plants'),
  },
  {
    fault: 'ignores a slash at the end of paths',
    caughtBy: 'rejects the path /plants/ with 40401',
    request: (text) => text.replace('/plants/ ', '/plants '),
  },
  {
    fault: 'checks the credential before the path',
    caughtBy: 'checks the path before the credential',
    respond: (request) => (request.includes('Authorization') ? undefined : errorResponse(40101)),
  },
  {
    fault: 'allows other origins',
    caughtBy: 'sends no CORS headers, even to a preflight request',
    response: (text) => text.replace('\r\n', '\r\nAccess-Control-Allow-Origin: *\r\n'),
  },
  {
    fault: 'adds a missing Host',
    caughtBy: 'rejects a request without Host with 40000, and closes the connection',
    request: (text) => text.replace(/^(POST .*\r\n)(?!Host:)/, '$1Host: test\r\n'),
  },
  {
    fault: 'does not accept chunks',
    caughtBy: 'accepts chunks with extensions and trailers (RFC 9112 §7.1)',
    respond: (request) => (request.includes('Transfer-Encoding: chunked') ? errorResponse(40000) : undefined),
  },
  {
    fault: 'ignores Expect',
    caughtBy: 'rejects Expect: x with 41701',
    request: withoutHeader('Expect'),
  },
  {
    fault: 'sends 100 Continue before it checks the credential',
    caughtBy: 'does not send 100 Continue for a request with no credential',
    response: (text, request) => (request.includes('Expect:') ? `HTTP/1.1 100 Continue\r\n\r\n${text}` : text),
  },
  {
    fault: 'leaves the connection of a rejected client open',
    caughtBy: 'closes the connection of a rejected client that sends no more',
    keepsOpen: true,
  },
  {
    fault: 'swaps the responses to pipelined requests',
    caughtBy: 'responds to pipelined requests in order',
    response: swapPairs(),
  },
  {
    fault: 'sends the token in a message',
    caughtBy: 'sends no message with a token, a stack or a path',
    response: onErrors(editBody((body) => body.replace('"message":"', `"message":"${token}: `))),
  },
  {
    fault: 'describes the interface in OpenAPI 3.0',
    caughtBy: 'describes interface 1.0.0 under the MIT license in OpenAPI 3.1.0 at /openapi.json, without a credential',
    response: (text) => text.replace('"openapi":"3.1.0"', '"openapi":"3.0.3"'),
  },
];
