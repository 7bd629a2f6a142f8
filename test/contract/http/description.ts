import { plantStoreCase } from './case.js';
import { expectHeader, expectThat, expectVerdict, isJson, parseObject, type Service } from './service.js';
import type { HttpContractCase } from './types.js';

/** Statuses of `POST /plants`. */
const STATUSES = '200 400 401 408 409 413 415 417 431 500 503';

/** Creates a case for a fact about the description. */
function descriptionCase(
  name: string,
  expected: string,
  isMet: (at: (path: string) => unknown, service: Service) => boolean,
) {
  return plantStoreCase(name, async (service) => {
    const response = await service.send(service.request('GET /openapi.json'));
    const description = parseObject(response.body);
    const at = (path: string) => path.split(' ').reduce<unknown>(member, description);
    expectThat(response.status === 200 && isJson(response), '200 as application/json', response);
    expectThat(description !== undefined && isMet(at, service), expected, response);
  });
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? new Map(Object.entries(value)).get(name) : undefined;
}

const keysOf = (value: unknown) => Object.keys(Object(value)).join(' ');

/** The OpenAPI description and its page. */
export const descriptionCases: readonly HttpContractCase[] = [
  descriptionCase(
    'describes interface 1.0.0 under the MIT license in OpenAPI 3.1.0 at /openapi.json, without a credential',
    'openapi 3.1.0, version 1.0.0 and license MIT',
    (at) => at('openapi') === '3.1.0' && at('info version') === '1.0.0' && at('info license name') === 'MIT',
  ),
  descriptionCase(
    'describes exactly the operation POST /plants, with a bearer token',
    'POST /plants with the security scheme bearer',
    (at) => {
      const [requirement] = [at('paths /plants post security') ?? at('security')].flat();
      const scheme = `components securitySchemes ${keysOf(requirement)}`;
      return (
        keysOf(at('paths')) === '/plants' &&
        keysOf(at('paths /plants')) === 'post' &&
        at(`${scheme} type`) === 'http' &&
        at(`${scheme} scheme`) === 'bearer'
      );
    },
  ),
  descriptionCase(
    `declares the statuses ${STATUSES}, and no default response`,
    `the statuses ${STATUSES}`,
    (at) => keysOf(at('paths /plants post responses')) === STATUSES,
  ),
  descriptionCase(
    'declares WWW-Authenticate with 401 and Retry-After with 503',
    'both headers',
    (at) =>
      at('paths /plants post responses 401 headers WWW-Authenticate') !== undefined &&
      at('paths /plants post responses 503 headers Retry-After') !== undefined,
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
    expectVerdict(response, 40501);
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
