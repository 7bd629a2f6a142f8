import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type Router from '@koa/router';

/** Files of the page by path; the build copies Swagger UI into the folder. */
const FILES = {
  '/docs': 'index.html',
  '/docs/page.css': 'page.css',
  '/docs/page.js': 'page.js',
  '/docs/swagger-ui.css': 'swagger-ui/swagger-ui.css',
  '/docs/swagger-ui-bundle.js': 'swagger-ui/swagger-ui-bundle.js',
} as const;

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
 * Adds the routes of the documentation page: `/docs`, its files, and a redirect from `/`. All are public; the page
 * sends requests with the token that its reader enters.
 */
export function addDocsRoutes(router: Router): void {
  router.get('/', (ctx) => {
    // Not ctx.redirect, which takes a time that is quadratic in the length of the header Accept.
    ctx.status = 302;
    // Relative, so that it works behind any host and path prefix.
    ctx.set('Location', 'docs');
  });

  for (const [path, file] of Object.entries(FILES)) {
    // Loaded once and kept, so that all clients share one copy.
    let content: ReturnType<typeof loadContent> | undefined;
    router.get(path, (ctx) => {
      content ??= loadContent(file);
      ctx.set(HEADERS);
      ctx.type = extname(file);
      ctx.etag = content.digest;
      ctx.body = content.bytes;
      if (ctx.fresh) ctx.status = 304;
    });
  }
}

function loadContent(file: string) {
  const bytes = readFileSync(new URL(`docs-page/${file}`, import.meta.url));
  return { bytes, digest: createHash('sha256').update(bytes).digest('base64url') };
}
