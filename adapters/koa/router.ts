import Router from '@koa/router';
import type { Context } from 'koa';
import {
  type CreatePlant,
  type CreatePlantOutcome,
  type Principal,
  StorageUnavailable,
  type TokenVerifier,
} from '../../core/index.js';
import { type OpenApiDescription, type PlantCodec, rejectionOf, rejections } from '../wire/index.js';
import type { Admission } from './admission.js';
import { bodyReader } from './body.js';
import { countOf } from './headers.js';
import { Refusal, refuseMethod } from './refusal.js';

/** What the HTTP interface is made of. */
export interface PlantRouterOptions {
  readonly createPlant: CreatePlant;
  readonly tokenVerifier: TokenVerifier;
  readonly codec: PlantCodec;
  readonly description: OpenApiDescription;
  readonly admission: Admission;
  /** A path that all others stand under, such as `/garden`; empty for none. */
  readonly basePath: string;
  /** The largest body, inflated, in bytes. */
  readonly bodyLimitBytes: number;
  /** How long a create may wait for the storage, in milliseconds. */
  readonly storageTimeoutMs: number;
}

/**
 * The paths of the interface (specification, "Endpoints"). Its handlers throw {@link Refusal}s; `createApp` shows what
 * to do with them.
 */
export function plantRouter(options: PlantRouterOptions): Router {
  const { createPlant, tokenVerifier, codec, description, admission, basePath, bodyLimitBytes, storageTimeoutMs } =
    options;
  const readBody = bodyReader(bodyLimitBytes);
  const router = new Router({ prefix: basePath, sensitive: true, strict: true });

  router.post('/plants', async (ctx) => {
    ctx.state['principal'] = await principalOf(ctx, tokenVerifier);
    const place = await admission.enter(ctx.req.socket);
    let created: Promise<CreatePlantOutcome>;
    try {
      const newPlant = codec.decode(await readBody(ctx, place));
      if ('error' in newPlant) throw new Refusal(newPlant);
      created = createPlant.execute(newPlant);
    } catch (error) {
      place.leave();
      throw error;
    }
    // The place is given back when the storage is done, even where the client is told earlier that it took too long.
    created.then(place.leave, place.leave);
    const outcome = await within(storageTimeoutMs, created);
    if (outcome.kind !== 'created') throw refusalOfOutcome(outcome);
    ctx.set('Content-Type', 'application/json');
    ctx.body = codec.encode(outcome.plant);
  });

  router.all('/plants', refuseMethod('POST'));

  // One text for all, however many clients are slow to take it.
  let served = { url: '', text: '' };
  router.get('/openapi.json', (ctx) => {
    const url = baseOf(ctx, '/openapi.json');
    if (url !== served.url) served = { url, text: JSON.stringify({ ...description, servers: [{ url }] }) };
    ctx.set('Content-Type', 'application/json');
    ctx.body = served.text;
  });
  router.all('/openapi.json', refuseMethod('GET, HEAD'));

  return router;
}

/** The path that the interface stands under, that of an app which it is mounted in included (koa-mount shortens `path`). */
function baseOf({ originalUrl }: Context, path: string): string {
  const [url = ''] = originalUrl.replace(/^https?:\/\/[^/?#]*/i, '').split('?', 1);
  return url.slice(0, -path.length) || '/';
}

async function principalOf(ctx: Context, tokenVerifier: TokenVerifier): Promise<Principal> {
  // Case-insensitive scheme, then the credential (RFC 9110 §11.4); a second header would leave open which one counts.
  const token =
    countOf(ctx, 'authorization') === 1 ? /^Bearer +([\x21-\x7e]+)$/i.exec(ctx.get('Authorization'))?.[1] : undefined;
  if (token === undefined) {
    throw new Refusal(rejections.noCredential, { 'WWW-Authenticate': 'Bearer realm="plant-store"' });
  }
  const principal = await tokenVerifier.verify(token);
  if (principal === undefined) {
    throw new Refusal(rejections.invalidToken, {
      'WWW-Authenticate': 'Bearer realm="plant-store", error="invalid_token"',
    });
  }
  return principal;
}

function refusalOfOutcome(outcome: CreatePlantOutcome): Refusal {
  const rejection = rejectionOf(outcome) ?? rejections.defect;
  return new Refusal(rejection, {}, outcome.kind === 'refused' ? { cause: outcome.error } : {});
}

function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new StorageUnavailable(`no answer within ${timeoutMs} ms`));
    const timer = setTimeout(fail, timeoutMs);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
