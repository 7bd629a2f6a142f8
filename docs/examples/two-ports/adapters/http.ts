import { timingSafeEqual } from 'node:crypto';
import Router from '@koa/router';
import { Ajv } from 'ajv';
import Koa, { type Context, type Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import type { Plant } from '../core/plant.js';
import type { CreatePlant } from '../core/ports.js';

const validate = new Ajv().compile<Plant>({
  type: 'object',
  properties: {
    // JSON.parse rounds larger integers.
    id: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
    name: { type: 'string' },
    tag: { type: 'string' },
  },
  required: ['id', 'name'],
});

/** Creates the Koa app: POST /plants, for clients with the token. */
export function createApp(createPlant: CreatePlant, accessToken: string): Koa {
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
    const plant = ctx.request.body;
    if (!validate(plant)) {
      const { instancePath, message } = validate.errors?.[0] ?? {};
      ctx.throw(400, `${instancePath?.slice(1) || 'the body'} ${message}`, { error: 40002 });
    }
    const { id, name, tag } = plant;
    const outcome = await createPlant.execute({ id, name, tag });
    if (outcome.kind === 'invalid') ctx.throw(400, outcome.message, { error: 40003 });
    if (outcome.kind === 'id-conflict') ctx.throw(409, 'the id belongs to another plant', { error: 40901 });
    if (outcome.kind === 'already-stored') ctx.throw(409, 'this plant is already stored', { error: 40902 });
    ctx.body = { name, tag };
  }

  const router = new Router();
  router.post('/plants', authenticate, bodyParser({ enableTypes: ['json'] }), create);
  const app = new Koa();
  app.use(sendErrors).use(router.routes()).use(router.allowedMethods());
  return app;
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
