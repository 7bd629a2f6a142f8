import { timingSafeEqual } from 'node:crypto';
import Router from '@koa/router';
import { Ajv } from 'ajv';
import Koa, { type Context, type Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { CreatePlantOutcome, CreatePlantUseCase } from '../core/ports.js';

const validate = new Ajv().compile<{ id: number; name: string; tag?: string }>({
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: { type: 'string' },
    tag: { type: 'string' },
  },
  required: ['id', 'name'],
});

const ERRORS: Readonly<
  Record<Exclude<CreatePlantOutcome, 'created'>, readonly [status: number, error: number, message: string]>
> = {
  'invalid-id': [400, 40002, 'id must be a 64-bit integer'],
  'invalid-text': [400, 40003, 'name and tag must not contain U+0000 or a lone surrogate'],
  'id-conflict': [409, 40901, 'the id belongs to another plant'],
  'already-stored': [409, 40902, 'this plant is already stored'],
};

/** Creates the Koa app: POST /plants, for clients with the token. */
export function createApp(createPlant: CreatePlantUseCase, accessToken: string): Koa {
  const expectedToken = Buffer.from(accessToken);

  async function authenticate(ctx: Context, next: Next): Promise<void> {
    const token = /^Bearer +(\S+)$/i.exec(ctx.get('Authorization'))?.[1];
    if (token === undefined) {
      ctx.set('WWW-Authenticate', 'Bearer realm="plant-store"');
      ctx.throw(401, 'the request has no bearer token', { error: 40101 });
    }
    const given = Buffer.from(token);
    if (given.length !== expectedToken.length || !timingSafeEqual(given, expectedToken)) {
      ctx.set('WWW-Authenticate', 'Bearer realm="plant-store", error="invalid_token"');
      ctx.throw(401, 'the token is invalid', { error: 40102 });
    }
    await next();
  }

  async function create(ctx: Context): Promise<void> {
    if (ctx.request.type !== 'application/json') ctx.throw(415, 'the body must be application/json');
    const { body } = ctx.request;
    if (!validate(body)) {
      const { instancePath, message } = validate.errors?.[0] ?? {};
      ctx.throw(400, `${instancePath?.slice(1) || 'the body'} ${message}`, { error: 40002 });
    }
    const { name, tag } = body;
    const outcome = await createPlant.execute({ id: exactId(body.id, `${ctx.request.rawBody}`), name, tag });
    if (outcome !== 'created') {
      const [status, error, message] = ERRORS[outcome];
      ctx.throw(status, message, { error });
    }
    ctx.body = { name, tag };
  }

  const router = new Router();
  router.post('/plants', authenticate, bodyParser({ enableTypes: ['json'] }), create);
  const app = new Koa();
  app.use(sendErrors).use(router.routes()).use(router.allowedMethods());
  return app;
}

/** Returns the id with all its digits: JSON.parse rounds integers beyond 2^53. */
function exactId(rounded: number, json: string): bigint {
  const ids = [...json.matchAll(/"id"\s*:\s*(-?\d+)/g)].map(([, digits = '']) => BigInt(digits));
  return ids.findLast((id) => Number(id) === rounded) ?? BigInt(rounded);
}

async function sendErrors(ctx: Context, next: Next): Promise<void> {
  try {
    await next();
    if (ctx.status >= 400) ctx.throw(ctx.status);
  } catch (thrown) {
    const { status = 500, error = status * 100 + 1, message } = Object(thrown);
    if (status >= 500) console.error(thrown);
    ctx.status = status;
    ctx.body = { error, message: status >= 500 ? 'internal error' : message };
  }
}
