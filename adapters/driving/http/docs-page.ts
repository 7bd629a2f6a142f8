import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenApiDescription } from '../api/index.js';
import { type HttpRequest, type HttpRoute, JSON_TYPE, type Reply } from './reply.js';

const FOLDER = fileURLToPath(new URL('docs-page', import.meta.url));

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
 * @param swaggerUiFolder The folder of `swagger-ui-bundle.js` and `swagger-ui.css`.
 */
export function docsRoutes(swaggerUiFolder: string): HttpRoute[] {
  // Relative, so that it works behind any host and path prefix.
  const redirect: Reply = { status: 302, headers: { Location: 'docs' }, body: '' };
  return [
    { method: 'GET', path: '/', respond: () => redirect },
    fileRoute('/docs', join(FOLDER, 'index.html'), 'text/html'),
    fileRoute('/docs/page.css', join(FOLDER, 'page.css'), 'text/css'),
    fileRoute('/docs/page.js', join(FOLDER, 'page.js'), 'text/javascript'),
    fileRoute('/docs/swagger-ui.css', join(swaggerUiFolder, 'swagger-ui.css'), 'text/css'),
    fileRoute('/docs/swagger-ui-bundle.js', join(swaggerUiFolder, 'swagger-ui-bundle.js'), 'text/javascript'),
  ];
}

function fileRoute(path: string, file: string, type: string): HttpRoute {
  const body = readFileSync(file);
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
