import { services } from 'plant-store';

const MAX_PER_MINUTE = 600;
const counts = new Map();
setInterval(() => counts.clear(), 60_000).unref();

/** A rate limit per address; behind a proxy, set `app.proxy`. Its error becomes an Error object with the number 42900. */
async function limitRate(ctx, next) {
  const count = (counts.get(ctx.ip) ?? 0) + 1;
  counts.set(ctx.ip, count);
  if (count > MAX_PER_MINUTE) ctx.throw(429, 'Too many requests', { headers: { 'Retry-After': '60' } });
  await next();
}

async function addHeader(ctx, next) {
  await next();
  ctx.set('X-Garden', 'north');
}

/** A public route. */
async function sayHello(ctx, next) {
  if (ctx.path === '/hello') ctx.body = 'Hello, gardener';
  else await next();
}

export default (container) => {
  container.onActivation(services.KoaApp, (_, app) => app.use(limitRate).use(addHeader).use(sayHello));
};
