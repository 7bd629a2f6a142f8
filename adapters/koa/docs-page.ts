import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import Router from '@koa/router';
import { refuseMethod } from './refusal.js';

/** What the page consists of, and where it is kept; the build puts Swagger UI there. */
const FILES = {
  '/docs': 'index.html',
  '/docs/page.css': 'page.css',
  '/docs/page.js': 'page.js',
  '/docs/swagger-ui.css': 'swagger-ui/swagger-ui.css',
  '/docs/swagger-ui-bundle.js': 'swagger-ui/swagger-ui-bundle.js',
} as const;

const HEADERS = {
  // Kept by the browser, which asks whether it is still the same: a new version shows at once.
  'Cache-Control': 'no-cache',
  'Content-Security-Policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'no-referrer',
  Vary: 'Accept-Encoding',
  'X-Content-Type-Options': 'nosniff',
} as const;

/**
 * The description as a page for people, at `/docs`, and the way to it from `/`. Needs no credential: what it shows is
 * what `/openapi.json` says, and what it sends has the credential that its reader types in.
 *
 * @param basePath a path that both stand under, such as `/garden`; empty for none
 */
export function docsRouter(basePath: string): Router {
  const router = new Router({ prefix: basePath, sensitive: true, strict: true });

  // Relative, so that neither the Host header nor a proxy's prefix has to be known.
  router.get('/', (ctx) => ctx.redirect('docs'));
  router.all('/', refuseMethod('GET, HEAD'));

  for (const [path, file] of Object.entries(FILES)) {
    const read = once(() => contentOf(file));
    router.get(path, async (ctx) => {
      const { bytes, gzipped, digest } = await read();
      const isGzip = ctx.acceptsEncodings('gzip', 'identity') === 'gzip';
      ctx.set(HEADERS);
      ctx.type = extname(file);
      ctx.etag = isGzip ? `${digest}-gzip` : digest;
      ctx.status = 200;
      if (ctx.fresh) {
        ctx.status = 304;
        return;
      }
      if (isGzip) ctx.set('Content-Encoding', 'gzip');
      ctx.body = isGzip ? gzipped : bytes;
    });
    router.all(path, refuseMethod('GET, HEAD'));
  }
  return router;
}

interface Content {
  readonly bytes: Buffer;
  readonly gzipped: Buffer;
  readonly digest: string;
}

async function contentOf(file: string): Promise<Content> {
  const bytes = await readFile(new URL(`docs-page/${file}`, import.meta.url));
  return {
    bytes,
    gzipped: await promisify(gzip)(bytes),
    digest: createHash('sha256').update(bytes).digest('base64url'),
  };
}

/** Makes something when it is first asked for, and keeps it: one copy, however many clients are slow to take it. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
}
