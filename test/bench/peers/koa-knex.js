// Koa, @koa/router, koa-bodyparser, Ajv, and Knex on sqlite3, with one insert per request.
import Router from '@koa/router';
import Ajv from 'ajv';
import createKnex from 'knex';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import { isAuthorized, newPlant } from './requests.js';

const pragmas = 'PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;';
const knex = createKnex({
  client: 'sqlite3',
  connection: { filename: process.env.DATABASE_FILE },
  useNullAsDefault: true,
  pool: { afterCreate: (connection, done) => connection.exec(pragmas, done) },
});
await knex.schema.createTable('plants', (table) => {
  table.bigint('id').primary();
  table.text('name').notNullable();
  table.text('tag');
});

const validate = new Ajv().compile(newPlant);
const router = new Router();
router.post('/plants', async (ctx) => {
  if (!validate(ctx.request.body)) ctx.throw(400, 'not a plant');
  const { id, name, tag } = ctx.request.body;
  try {
    await knex('plants').insert({ id, name, tag });
  } catch (error) {
    ctx.throw(error.code === 'SQLITE_CONSTRAINT' ? 409 : 500);
  }
  ctx.body = { name, tag };
});

const app = new Koa();
app.use(async (ctx, next) => {
  if (!isAuthorized(ctx.get('Authorization'))) ctx.throw(401);
  await next();
});
app.use(bodyParser());
app.use(router.routes());
app.listen(Number(process.env.PORT), '127.0.0.1');
