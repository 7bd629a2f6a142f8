// Fastify with its own schema validation, and better-sqlite3 with a prepared statement.
import Database from 'better-sqlite3';
import Fastify from 'fastify';
import { isAuthorized, newPlant } from './requests.js';

const db = new Database(process.env.DATABASE_FILE);
db.pragma('journal_mode = WAL');
db.pragma('synchronous = FULL');
db.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
const insert = db.prepare('INSERT INTO plants (id, name, tag) VALUES (?, ?, ?)');

const fastify = Fastify();
fastify.addHook('onRequest', async (request, reply) => {
  if (!isAuthorized(request.headers.authorization)) return reply.code(401).send({ message: 'unauthorized' });
});

const { name, tag } = newPlant.properties;
const schema = { body: newPlant, response: { 200: { type: 'object', properties: { name, tag } } } };
fastify.post('/plants', { schema }, async (request, reply) => {
  const { id, name, tag } = request.body;
  try {
    insert.run(id, name, tag);
  } catch (error) {
    if (error.code !== 'SQLITE_CONSTRAINT_PRIMARYKEY') throw error;
    return reply.code(409).send({ message: 'the id is in use' });
  }
  return { name, tag };
});

await fastify.listen({ port: Number(process.env.PORT), host: '127.0.0.1' });
