// Koa, @koa/router, koa-bodyparser, Ajv and Knex, with one insert per request. DATABASE_CLIENT: sqlite3, pg or mysql2.
import { timingSafeEqual } from 'node:crypto';
import Router from '@koa/router';
import Ajv from 'ajv';
import createKnex from 'knex';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';

const client = process.env.DATABASE_CLIENT;
const knex = createKnex(
  client === 'sqlite3'
    ? {
        client,
        connection: { filename: process.env.DATABASE_FILE },
        useNullAsDefault: true,
        pool: {
          afterCreate: (connection, done) =>
            connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;', done),
        },
      }
    : { client, connection: process.env.DATABASE_URL, pool: { min: 2, max: 10 } },
);
if (!(await knex.schema.hasTable('plants'))) {
  await knex.schema.createTable('plants', (table) => {
    table.bigint('id').primary();
    table.text('name').notNullable();
    table.text('tag');
  });
}
const TAKEN = ['SQLITE_CONSTRAINT', '23505', 'ER_DUP_ENTRY'];

const validate = new Ajv().compile({
  type: 'object',
  required: ['id', 'name'],
  properties: { id: { type: 'integer' }, name: { type: 'string' }, tag: { type: 'string' } },
});

const authorization = Buffer.from(`Bearer ${process.env.ACCESS_TOKENS}`);

const app = new Koa();
const router = new Router();

router.post('/plants', async (ctx) => {
  if (!validate(ctx.request.body)) ctx.throw(400, 'not a plant');
  const { id, name, tag } = ctx.request.body;
  try {
    await knex('plants').insert({ id, name, tag });
  } catch (error) {
    ctx.throw(TAKEN.includes(error.code) ? 409 : 500);
  }
  ctx.body = { name, tag };
});

app.use(async (ctx, next) => {
  const given = Buffer.from(ctx.get('Authorization'));
  if (given.length !== authorization.length || !timingSafeEqual(given, authorization)) ctx.throw(401);
  await next();
});
app.use(bodyParser());
app.use(router.routes());
app.use(router.allowedMethods());

const server = app.listen(Number(process.env.PORT), '127.0.0.1', () => {
  console.log(`listens on http://127.0.0.1:${server.address().port}`);
});
