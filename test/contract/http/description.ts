import { plantStoreCase } from './case.js';
import type { HttpResponse } from './connection.js';
import { expectHeader, expectOutcome, expectThat, isJson, parseObject, type Service } from './service.js';
import type { HttpCase } from './types.js';

/** Statuses that every operation can have. */
const STATUSES = ['200', '400', '401', '408', '431', '500', '503'];

/** Reads one value of the description, such as `paths /plants post`. */
type At = (path: string) => unknown;

/** An operation of the description that the service serves. */
export interface DescribedOperation {
  readonly method: string;
  /** Such as `/plants/{plantId}`. */
  readonly path: string;
  /** Reads a value of the operation, such as `responses 401`. */
  readonly at: At;
}

const keysOf = (value: unknown): string[] => Object.keys(Object(value));
const member = (value: unknown, name: string): unknown => new Map(Object.entries(Object(value))).get(name);

/** Fetches the description. */
async function fetchDescription(service: Service): Promise<{ at: At; response: HttpResponse }> {
  const response = await service.send(service.request('GET /openapi.json'));
  const description = isJson(response) ? parseObject(response.body) : undefined;
  expectThat(response.status === 200 && description !== undefined, '200 as application/json', response);
  return { at: (path) => path.split(' ').reduce<unknown>(member, description), response };
}

function operationsIn(at: At): DescribedOperation[] {
  return keysOf(at('paths')).flatMap((path) =>
    keysOf(at(`paths ${path}`)).map((method) => ({
      method: method.toUpperCase(),
      path,
      at: (member) => at(`paths ${path} ${method} ${member}`),
    })),
  );
}

/** Returns the operations that the service describes. */
export async function fetchOperations(service: Service): Promise<DescribedOperation[]> {
  return operationsIn((await fetchDescription(service)).at);
}

/** Creates a case for a fact about the description. */
function descriptionCase(name: string, isMet: (at: At, service: Service) => boolean) {
  return plantStoreCase(name, async (service) => {
    const { at, response } = await fetchDescription(service);
    expectThat(isMet(at, service), 'such a description', response);
  });
}

/** The OpenAPI description and its page. */
export const descriptionCases: readonly HttpCase[] = [
  descriptionCase('describes POST /plants under the MIT license in OpenAPI 3.1.0 at /openapi.json', (at) => {
    const isOfVersion1 = /^1\.\d+\.\d+$/.test(`${at('info version')}`);
    const isKnown = at('openapi') === '3.1.0' && at('info license name') === 'MIT';
    return isOfVersion1 && isKnown && at('paths /plants post') !== undefined;
  }),
  descriptionCase('requires a bearer token for every operation', (at) =>
    operationsIn(at).every((operation) => {
      const [requirement] = [operation.at('security') ?? at('security')].flat();
      const scheme = `components securitySchemes ${keysOf(requirement)[0]}`;
      return at(`${scheme} type`) === 'http' && at(`${scheme} scheme`) === 'bearer';
    }),
  ),
  descriptionCase(`declares at least ${STATUSES.join(', ')} for every operation, and no default response`, (at) =>
    operationsIn(at).every((operation) => {
      const declared = keysOf(operation.at('responses'));
      return STATUSES.every((status) => declared.includes(status)) && !declared.includes('default');
    }),
  ),
  descriptionCase('declares WWW-Authenticate with 401 and Retry-After with 503', (at) => {
    const headers = ['responses 401 headers WWW-Authenticate', 'responses 503 headers Retry-After'];
    return operationsIn(at).every((operation) => headers.every((header) => operation.at(header) !== undefined));
  }),
  descriptionCase('describes NewPlant as allOf Plant plus an int64 id', (at) => {
    const parts = 'components schemas NewPlant allOf';
    const id = `${parts} 1 properties id`;
    const isPlant = at(`${parts} 0 $ref`) === '#/components/schemas/Plant';
    return isPlant && at(`${id} type`) === 'integer' && at(`${id} format`) === 'int64';
  }),
  descriptionCase('has a relative server URL that leads to the base URL', (at, { baseUrl, prefix }) => {
    const url = at('servers 0 url');
    if (typeof url !== 'string' || URL.canParse(url)) return false;
    return new URL(url, `${baseUrl.origin}${prefix}/openapi.json`).pathname.replace(/\/$/, '') === prefix;
  }),
  plantStoreCase('allows only GET and HEAD for /openapi.json', async (service) => {
    const response = await service.send(service.request('DELETE /openapi.json'));
    expectOutcome(response, 40501);
    expectHeader(response, 'Allow', 'GET, HEAD');
  }),
  plantStoreCase('redirects GET / to the page at /docs', async (service) => {
    const redirect = await service.send(service.request('GET /'));
    const base = `${service.baseUrl.origin}${service.prefix}/`;
    const location = new URL(redirect.headers['location'] ?? '', base);
    const isRedirect = redirect.status >= 300 && redirect.status < 400;
    expectThat(isRedirect && location.href === `${base}docs`, 'a redirect to /docs', redirect);
    const page = await service.send(service.request('GET /docs'));
    const isHtml = /^text\/html\b/.test(page.headers['content-type'] ?? '');
    expectThat(page.status === 200 && isHtml, '200 as text/html', page);
  }),
];
