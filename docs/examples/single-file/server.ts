// The whole service in one file. With GROUP_COMMIT=on, plants that arrive together share a sync.
import { timingSafeEqual } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import Router from '@koa/router';
import { Ajv } from 'ajv';
import Koa, { type Context, type Next } from 'koa';
import bodyParser from 'koa-bodyparser';
import sqlite3 from 'sqlite3';

interface NewPlant {
  id: number;
  name: string;
  tag?: string;
}
type Plant = { id: bigint; name: string; tag: string | undefined };

const { PORT = '3000', DATABASE_FILE = 'plants.db', ACCESS_TOKEN, GROUP_COMMIT } = process.env;
if (!ACCESS_TOKEN) throw new Error('ACCESS_TOKEN is missing');
const expectedToken = Buffer.from(ACCESS_TOKEN);

// SQLite cannot store a lone surrogate; PostgreSQL cannot store U+0000.
const text = { type: 'string', pattern: '^[^\\0\\p{Cs}]*$' };
const validate = new Ajv().compile<NewPlant>({
  type: 'object',
  properties: {
    id: { type: 'integer' },
    name: text,
    tag: text,
  },
  required: ['id', 'name'],
});

const db = new sqlite3.Database(DATABASE_FILE);

function query(sql: string, values: readonly unknown[] = []): Promise<Partial<NewPlant>[]> {
  return new Promise((resolve, reject) => {
    db.all<Partial<NewPlant>>(sql, values, (error, rows) => (error ? reject(error) : resolve(rows)));
  });
}

await query('PRAGMA journal_mode = WAL');
await query('PRAGMA synchronous = FULL');
await query('CREATE TABLE IF NOT EXISTS plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');

// SQLite converts the digits of an id exactly; the driver has no bigint.
async function insertOne({ id, name, tag }: Plant): Promise<void> {
  await query('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)', [`${id}`, name, tag]);
}

const INSERT_ALL = 'INSERT INTO plants SELECT value->>0, value->>1, value->>2 FROM json_each(?)';
let pending: { plant: Plant; resolve: () => void; reject: (error: unknown) => void }[] = [];
let isCommitting = false;

/** Inserts the plants of one turn of the event loop in one statement, and those that arrive meanwhile in the next. */
function insertInBatch(plant: Plant): Promise<void> {
  return new Promise((resolve, reject) => {
    if (pending.push({ plant, resolve, reject }) === 1 && !isCommitting) setImmediate(commit);
  });
}

async function commit(): Promise<void> {
  isCommitting = true;
  while (pending.length > 0) {
    const batch = pending;
    pending = [];
    try {
      const rows = batch.map(({ plant: { id, name, tag } }) => [`${id}`, name, tag]);
      await query(INSERT_ALL, [JSON.stringify(rows)]);
      for (const { resolve } of batch) resolve();
    } catch {
      // An id is in use.
      for (const { plant, resolve, reject } of batch) await insertOne(plant).then(resolve, reject);
    }
  }
  isCommitting = false;
}

const insert = GROUP_COMMIT === 'on' ? insertInBatch : insertOne;

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

/** Returns the id with all its digits: JSON.parse rounds integers beyond 2^53. */
function exactId(rounded: number, json: string): bigint {
  const ids = [...json.matchAll(/"id"\s*:\s*(-?\d+)/g)].map(([, digits = '']) => BigInt(digits));
  return ids.findLast((id) => Number(id) === rounded) ?? BigInt(rounded);
}

async function createPlant(ctx: Context): Promise<void> {
  if (ctx.request.type !== 'application/json') ctx.throw(415, 'the body must be application/json');
  const body = ctx.request.body;
  if (!validate(body)) {
    const { instancePath, message, keyword } = validate.errors?.[0] ?? {};
    const error = keyword === 'pattern' ? 40003 : 40002;
    ctx.throw(400, `${instancePath?.slice(1) || 'the body'} ${message}`, { error });
  }
  const { name, tag } = body;
  const id = exactId(body.id, `${ctx.request.rawBody}`);
  if (BigInt.asIntN(64, id) !== id) ctx.throw(400, 'id must be a 64-bit integer', { error: 40002 });
  try {
    await insert({ id, name, tag });
  } catch (error) {
    if (Object(error).code !== 'SQLITE_CONSTRAINT') throw error;
    const [stored] = await query('SELECT name, tag FROM plants WHERE id = ?', [`${id}`]);
    if (stored?.name !== name || stored.tag !== (tag ?? null))
      ctx.throw(409, 'the id belongs to another plant', { error: 40901 });
    ctx.throw(409, 'this plant is already stored', { error: 40902 });
  }
  ctx.body = { name, tag };
}

const router = new Router();
router.post('/plants', authenticate, bodyParser({ enableTypes: ['json'] }), createPlant);

const app = new Koa();
app.use(sendErrors).use(router.routes()).use(router.allowedMethods());
const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
process.once('SIGTERM', () => server.close(() => db.close()));
