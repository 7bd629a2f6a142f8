import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { OpenApiDescription } from '../api/index.js';
import { type HttpRequest, type HttpRoute, JSON_TYPE, type Reply } from './reply.js';

/** Files of the page by path; the build copies Swagger UI into the folder. */
const FILES = {
  '/docs': { name: 'index.html', type: 'text/html' },
  '/docs/page.css': { name: 'page.css', type: 'text/css' },
  '/docs/page.js': { name: 'page.js', type: 'text/javascript' },
  '/docs/swagger-ui.css': { name: 'swagger-ui/swagger-ui.css', type: 'text/css' },
  '/docs/swagger-ui-bundle.js': { name: 'swagger-ui/swagger-ui-bundle.js', type: 'text/javascript' },
};

const HEADERS = {
  // Browsers revalidate their copy, so that a new version shows at once.
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Returns the route of the description. Its server is the path prefix, including that of an outer app. */
export function descriptionRoute(description: OpenApiDescription): HttpRoute {
  const respond = ({ req, originalUrl = req.url ?? '' }: HttpRequest): Reply => {
    const url = originalUrl.replace(/\/openapi\.json(\?.*)?$/, '') || '/';
    return { status: 200, headers: JSON_TYPE, body: JSON.stringify({ ...description, servers: [{ url }] }) };
  };
  return { method: 'GET', path: '/openapi.json', respond };
}

/**
 * Returns the routes of the documentation page: `/docs`, its files, and a redirect from `/`. All are public; the page
 * sends requests with the token that its reader enters.
 */
export function docsRoutes(): HttpRoute[] {
  // Relative, so that it works behind any host and path prefix.
  const redirect: Reply = { status: 302, headers: { Location: 'docs' }, body: '' };
  const files = Object.entries(FILES).map(([path, { name, type }]) => fileRoute(path, name, type));
  return [{ method: 'GET', path: '/', respond: () => redirect }, ...files];
}

function fileRoute(path: string, name: string, type: string): HttpRoute {
  const body = readFileSync(new URL(`docs-page/${name}`, import.meta.url));
  const ETag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  const headers = { ...HEADERS, 'Content-Type': `${type}; charset=utf-8`, ETag };
  const respond: HttpRoute['respond'] = ({ req }) => {
    // RFC 9110 §13.1.2, with the weak comparison.
    const tags = req.headers['if-none-match']?.split(/ *, */) ?? [];
    const isFresh = ['*', ETag, `W/${ETag}`].some((tag) => tags.includes(tag));
    return isFresh ? { status: 304, headers, body: '' } : { status: 200, headers, body };
  };
  return { method: 'GET', path, respond };
}
