import Router from '@koa/router';
import type { Context } from 'koa';
import { type CreatePlant, type NewPlant, StorageUnavailable, type TokenVerifier } from '../../core/index.js';
import { apiErrors, type OpenApiDescription, type PlantCodec, toApiError } from '../api/index.js';
import type { AdmissionControl } from './admission-control.js';
import { createBodyReader } from './body.js';
import { HttpError, rejectMethod } from './http-error.js';
import { countHeader } from './request-head.js';

/** Options of {@link createPlantRouter}. */
export interface PlantRouterOptions {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  readonly codec: PlantCodec;
  readonly description: OpenApiDescription;
  readonly admission: AdmissionControl;
  /** Path prefix such as `/garden`; empty for none. */
  readonly basePath: string;
  /** Maximum size of a body, after decompression. */
  readonly bodyLimitBytes: number;
  /** Maximum time for a create to wait for the storage. */
  readonly storageTimeoutMs: number;
}

/** Creates the routes of the interface. Handlers throw {@link HttpError}s, which `createApp` turns into responses. */
export function createPlantRouter(options: PlantRouterOptions): Router {
  const { createPlant, tokenVerifier, codec, description, admission, storageTimeoutMs } = options;
  const readBody = createBodyReader(options.bodyLimitBytes);
  const router = new Router({ prefix: options.basePath, sensitive: true, strict: true });

  router.post('/plants', async (ctx) => {
    ctx.state['principal'] = await authenticate(ctx, tokenVerifier);
    const permit = await admission.acquire(ctx.req);
    let newPlant: NewPlant;
    try {
      const decoded = codec.decode(await readBody(ctx, permit));
      if (decoded.kind === 'rejected') throw new HttpError(decoded.error);
      newPlant = decoded.newPlant;
    } catch (error) {
      permit.release();
      throw error;
    }
    // The permit limits work in the storage, so it is held until that is done, even after a timeout.
    const created = (async () => createPlant.execute(newPlant))().finally(permit.release);
    const outcome = await withTimeout(storageTimeoutMs, created);
    if (outcome.kind !== 'created') {
      const apiError = toApiError(outcome) ?? apiErrors.internalError;
      throw new HttpError(apiError, outcome.kind === 'rejected' ? { cause: outcome.error } : {});
    }
    ctx.set('Content-Type', 'application/json');
    ctx.body = codec.encode(outcome.plant);
  });

  router.all('/plants', rejectMethod('POST'));

  // Cached, so that slow clients share one copy.
  let served = { url: '', text: '' };
  router.get('/openapi.json', (ctx) => {
    const url = toBaseUrl(ctx, '/openapi.json');
    if (url !== served.url) served = { url, text: JSON.stringify({ ...description, servers: [{ url }] }) };
    ctx.set('Content-Type', 'application/json');
    ctx.body = served.text;
  });
  router.all('/openapi.json', rejectMethod('GET, HEAD'));

  return router;
}

/** Returns the path prefix, including that of an outer app (koa-mount shortens `path`). */
function toBaseUrl({ originalUrl }: Context, path: string): string {
  const [url = ''] = originalUrl.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1);
  return url.slice(0, -path.length) || '/';
}

/** Returns the principal of the bearer token; throws 40101 or 40102. */
async function authenticate({ req }: Context, tokenVerifier: TokenVerifier) {
  // With two headers it is unclear which one counts.
  if (countHeader(req, 'authorization') !== 1) throw new HttpError(apiErrors.noCredential);
  // RFC 9110 §11.4: a case-insensitive scheme, then the credential.
  const [, token] = /^Bearer +([\x21-\x7e]+)$/i.exec(req.headers.authorization ?? '') ?? [];
  if (token === undefined) throw new HttpError(apiErrors.noCredential);
  const principal = await tokenVerifier.verify(token);
  // Treats any other result as an invalid token: a verifier written in JavaScript is not type-checked.
  if (!principal?.subject) throw new HttpError(apiErrors.invalidToken);
  return principal;
}

function withTimeout<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new StorageUnavailable(`no response within ${timeoutMs} ms`));
    const timer = setTimeout(fail, timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
