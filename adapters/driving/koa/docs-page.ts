import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type Router from '@koa/router';
import { openApiDescription } from '../api/index.js';
import type { ApiMiddleware, RequestState } from './context.js';

const FOLDER = fileURLToPath(new URL('docs-page', import.meta.url));

const HEADERS = {
  'Cache-Control': 'no-cache',
  'Content-Security-Policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
};

/** Serves the description. Its server is the path prefix, including that of an outer app. */
export function serveDescription(description = openApiDescription): ApiMiddleware {
  return (ctx) => {
    const url = ctx.originalUrl.replace(/\/openapi\.json(\?.*)?$/, '') || '/';
    ctx.set('Content-Type', 'application/json');
    ctx.body = JSON.stringify({ ...description, servers: [{ url }] });
  };
}

/** Adds the page at `/docs`, with Swagger UI from a folder, and a redirect from `/`. All are public. */
export function addDocs(router: Router<RequestState>, swaggerUiFolder: string): void {
  router.get('/', (ctx) => {
    ctx.status = 302;
    // Relative, so that it works behind any host and path prefix. Koa's `redirect` parses Accept in quadratic time.
    const [mount = ''] = /[^/?]*(?=\?|$)/.exec(ctx.originalUrl) ?? [];
    ctx.set('Location', mount === '' ? 'docs' : `./${mount}/docs`);
  });
  router.get('/docs', serveFile(join(FOLDER, 'index.html')));
  for (const name of ['page.css', 'page.js']) router.get(`/docs/${name}`, serveFile(join(FOLDER, name)));
  for (const name of ['swagger-ui.css', 'swagger-ui-bundle.js'])
    router.get(`/docs/${name}`, serveFile(join(swaggerUiFolder, name)));
}

function serveFile(file: string): ApiMiddleware {
  const body = readFileSync(file);
  const etag = createHash('sha256').update(body).digest('base64url');
  return (ctx) => {
    ctx.set(HEADERS);
    ctx.type = extname(file);
    ctx.etag = etag;
    ctx.body = body;
    if (ctx.fresh) ctx.status = 304;
  };
}
