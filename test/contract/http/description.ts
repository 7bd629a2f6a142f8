import type { Cases } from '../contract.js';
import { expectHeader, expectThat, isJson, parseObject, type Service } from './service.js';

/** Reads one value of the description, such as `paths /plants post`. */
type At = (path: string) => unknown;

const toEntries = (value: unknown): [string, unknown][] => Object.entries(Object(value));
const member = (value: unknown, name: string): unknown => new Map(toEntries(value)).get(name);

/** Expects a fact about the description. */
const isDescribed = (isMet: (at: At, service: Service) => boolean) => async (service: Service) => {
  const response = await service.send(service.request('GET /openapi.json'));
  const description = isJson(response) ? parseObject(response.body) : undefined;
  expectThat(response.status === 200 && description !== undefined, '200 as application/json', response);
  const at: At = (path) => path.split(' ').reduce<unknown>(member, description);
  expectThat(isMet(at, service), 'such a description', response);
};

/** The OpenAPI description and its page. */
export const descriptionCases: Cases<Service> = {
  'describes POST /plants under the MIT license in OpenAPI 3.1.0 at /openapi.json': isDescribed((at) => {
    const isOfVersion1 = /^1\.\d+\.\d+$/.test(`${at('info version')}`);
    const isKnown = at('openapi') === '3.1.0' && at('info license name') === 'MIT';
    return isOfVersion1 && isKnown && at('paths /plants post') !== undefined;
  }),
  'requires a bearer token for POST /plants': isDescribed((at) => {
    const [requirement] = [at('paths /plants post security') ?? at('security')].flat();
    const scheme = `components securitySchemes ${toEntries(requirement)[0]?.[0]}`;
    return at(`${scheme} type`) === 'http' && at(`${scheme} scheme`) === 'bearer';
  }),
  'declares statuses and their headers for POST /plants, and no default response': isDescribed((at) => {
    const responses = 'paths /plants post responses';
    const headers = [`${responses} 401 headers WWW-Authenticate`, `${responses} 503 headers Retry-After`];
    const statuses = ['200', '400', '401', '408', '409', '413', '415', '417', '431', '500', '503'];
    const areDeclared = [...statuses.map((status) => `${responses} ${status}`), ...headers].every(
      (path) => at(path) !== undefined,
    );
    return areDeclared && at(`${responses} default`) === undefined;
  }),
  'describes NewPlant as allOf Plant plus an int64 id': isDescribed((at) => {
    const parts = 'components schemas NewPlant allOf';
    const id = `${parts} 1 properties id`;
    const isPlant = at(`${parts} 0 $ref`) === '#/components/schemas/Plant';
    return isPlant && at(`${id} type`) === 'integer' && at(`${id} format`) === 'int64';
  }),
  'has a relative server URL that leads to the base URL': isDescribed((at, { baseUrl, prefix }) => {
    const url = at('servers 0 url');
    if (typeof url !== 'string' || URL.canParse(url)) return false;
    return new URL(url, `${baseUrl.origin}${prefix}/openapi.json`).pathname.replace(/\/$/, '') === prefix;
  }),
  'allows only GET and HEAD for /openapi.json': async (service) => {
    expectHeader(await service.expect(40501, service.request('DELETE /openapi.json')), 'Allow', 'GET, HEAD');
  },
  'redirects GET / to the page at /docs': async (service) => {
    const redirect = await service.send(service.request('GET /'));
    const base = `${service.baseUrl.origin}${service.prefix}/`;
    const location = new URL(redirect.headers['location'] ?? '', base);
    const isRedirect = redirect.status >= 300 && redirect.status < 400;
    expectThat(isRedirect && location.href === `${base}docs`, 'a redirect to /docs', redirect);
    const page = await service.send(service.request('GET /docs'));
    const isHtml = /^text\/html\b/.test(page.headers['content-type'] ?? '');
    expectThat(page.status === 200 && isHtml, '200 as text/html', page);
  },
};
