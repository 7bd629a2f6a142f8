// Feathers 5 on Koa, its Knex service on sqlite3 and its TypeBox schemas, as `npm create feathers` lays them out.
import { timingSafeEqual } from 'node:crypto';
import { NotAuthenticated } from '@feathersjs/errors';
import { feathers } from '@feathersjs/feathers';
import { KnexService } from '@feathersjs/knex';
import { bodyParser, errorHandler, koa, rest } from '@feathersjs/koa';
import { Ajv, hooks as schemaHooks } from '@feathersjs/schema';
import { getValidator, Type } from '@feathersjs/typebox';
import createKnex from 'knex';

const db = createKnex({
  client: 'sqlite3',
  connection: { filename: process.env.DATABASE_FILE },
  useNullAsDefault: true,
  pool: {
    afterCreate: (connection, done) => connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;', done),
  },
});
if (!(await db.schema.hasTable('plants'))) {
  await db.schema.createTable('plants', (table) => {
    table.bigint('id').primary();
    table.text('name').notNullable();
    table.text('tag');
  });
}

const plantSchema = Type.Object(
  { id: Type.Integer(), name: Type.String(), tag: Type.Optional(Type.String()) },
  { $id: 'Plant', additionalProperties: false },
);
const plantValidator = getValidator(plantSchema, new Ajv());

const authorization = Buffer.from(`Bearer ${process.env.ACCESS_TOKENS}`);

async function authenticate(context) {
  const given = Buffer.from(context.params.headers?.authorization ?? '');
  if (given.length !== authorization.length || !timingSafeEqual(given, authorization)) throw new NotAuthenticated();
}

const app = koa(feathers());
app.use(errorHandler());
app.use(bodyParser());
app.configure(rest());
app.use('plants', new KnexService({ Model: db, name: 'plants' }), { methods: ['create'] });
app.service('plants').hooks({
  before: { create: [authenticate, schemaHooks.validateData(plantValidator)] },
});

const server = await app.listen(Number(process.env.PORT), '127.0.0.1');
server.on('listening', () => console.log(`listens on http://127.0.0.1:${server.address().port}`));
