import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { HttpRoute, Reply } from './reply.js';

/** Files of the page by path; the build copies Swagger UI into the folder. */
const FILES = {
  '/docs': 'index.html',
  '/docs/page.css': 'page.css',
  '/docs/page.js': 'page.js',
  '/docs/swagger-ui.css': 'swagger-ui/swagger-ui.css',
  '/docs/swagger-ui-bundle.js': 'swagger-ui/swagger-ui-bundle.js',
} as const;

const TYPES: Readonly<Record<string, string>> = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' };

const HEADERS = {
  // Browsers revalidate their copy, so that a new version shows at once.
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
} as const;

/**
 * Returns the routes of the documentation page: `/docs`, its files, and a redirect from `/`. All are public; the page
 * sends requests with the token that its reader enters.
 */
export function docsRoutes(): HttpRoute[] {
  const files = Object.entries(FILES).map(([path, file]) => {
    // Loaded once and kept, so that all clients share one copy.
    let page: Page | undefined;
    const respond: HttpRoute['respond'] = ({ req }) => {
      page ??= loadPage(file);
      // RFC 9110 §13.1.2, with the weak comparison.
      const tags = req.headers['if-none-match']?.split(/ *, */) ?? [];
      const isFresh = ['*', page.headers.ETag, `W/${page.headers.ETag}`].some((tag) => tags.includes(tag));
      return isFresh ? { ...page, status: 304, body: '' } : page;
    };
    return { method: 'GET', path, respond };
  });
  // Relative, so that it works behind any host and path prefix.
  const redirect: Reply = { status: 302, headers: { Location: 'docs' }, body: '' };
  return [{ method: 'GET', path: '/', respond: () => redirect }, ...files];
}

type Page = Reply & { readonly headers: { readonly ETag: string } };

function loadPage(file: string): Page {
  const body = readFileSync(new URL(`docs-page/${file}`, import.meta.url));
  const ETag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  return { status: 200, headers: { ...HEADERS, 'Content-Type': `${TYPES[extname(file)]}; charset=utf-8`, ETag }, body };
}
