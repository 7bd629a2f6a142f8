import { plantStoreCase } from './case.js';
import type { HttpResponse } from './connection.js';
import { expectHeader, expectOutcome, expectThat, isJson, parseObject, type Service } from './service.js';
import type { HttpCase } from './types.js';

/** Statuses that every operation can have. */
const STATUSES = '200, 400, 401, 408, 431, 500, 503';

/** An operation of the description that the service serves. */
export interface DescribedOperation {
  readonly method: string;
  /** Such as `/plants/{plantId}`. */
  readonly path: string;
  /** Reads a value of the operation, such as `responses 401`. */
  at(path: string): unknown;
}

/** Reads one value of the description, such as `paths /plants post`. */
type At = (path: string) => unknown;

/** Fetches the description. */
async function fetchDescription(service: Service): Promise<{ at: At; response: HttpResponse }> {
  const response = await service.send(service.request('GET /openapi.json'));
  const description = parseObject(response.body);
  const isObject = isJson(response) && description !== undefined;
  expectThat(response.status === 200 && isObject, '200 as application/json', response);
  return { at: (path) => path.split(' ').reduce<unknown>(member, description), response };
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

const keysOf = (value: unknown): string[] => Object.keys(Object(value));

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
function descriptionCase(name: string, expected: string, isMet: (at: At, service: Service) => boolean) {
  return plantStoreCase(name, async (service) => {
    const { at, response } = await fetchDescription(service);
    expectThat(isMet(at, service), expected, response);
  });
}

/** Creates a case for a fact about every operation. */
function operationsCase(name: string, expected: string, isMet: (operation: DescribedOperation, at: At) => boolean) {
  return descriptionCase(name, expected, (at) => operationsIn(at).every((operation) => isMet(operation, at)));
}

/** The OpenAPI description and its page. */
export const descriptionCases: readonly HttpCase[] = [
  descriptionCase(
    'describes the HTTP API under the MIT license in OpenAPI 3.1.0 at /openapi.json, without a credential',
    'openapi 3.1.0, a version and license MIT',
    (at) =>
      at('openapi') === '3.1.0' && /^1\.\d+\.\d+$/.test(`${at('info version')}`) && at('info license name') === 'MIT',
  ),
  descriptionCase('describes POST /plants', 'POST /plants', (at) => at('paths /plants post') !== undefined),
  operationsCase('requires a bearer token for every operation', 'the security scheme bearer', (operation, at) => {
    const [requirement] = [operation.at('security') ?? at('security')].flat();
    const [name] = keysOf(requirement);
    const scheme = `components securitySchemes ${name}`;
    return at(`${scheme} type`) === 'http' && at(`${scheme} scheme`) === 'bearer';
  }),
  operationsCase(
    `declares at least ${STATUSES} for every operation, and no default response`,
    STATUSES,
    (operation) =>
      keysOf(operation.at('responses')).every((status) => /^[1-5]\d\d$/.test(status)) &&
      STATUSES.split(', ').every((status) => operation.at(`responses ${status}`) !== undefined),
  ),
  operationsCase(
    'declares WWW-Authenticate with 401 and Retry-After with 503',
    'both headers',
    (operation) =>
      operation.at('responses 401 headers WWW-Authenticate') !== undefined &&
      operation.at('responses 503 headers Retry-After') !== undefined,
  ),
  descriptionCase('describes NewPlant as allOf Plant plus id', 'allOf with Plant and an int64 id', (at) => {
    const id = 'components schemas NewPlant allOf 1 properties id';
    return (
      at('components schemas NewPlant allOf 0 $ref') === '#/components/schemas/Plant' &&
      at(`${id} type`) === 'integer' &&
      at(`${id} format`) === 'int64'
    );
  }),
  descriptionCase(
    'has a relative server URL that leads to the base URL',
    'a relative server URL',
    (at, { baseUrl, prefix }) => {
      const url = at('servers 0 url');
      if (typeof url !== 'string' || URL.canParse(url)) return false;
      return new URL(url, `${baseUrl.origin}${prefix}/openapi.json`).pathname.replace(/\/$/, '') === prefix;
    },
  ),
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
