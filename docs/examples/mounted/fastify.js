import Fastify from 'fastify';
import { api } from './plants.js';

const app = Fastify();
app.post('/notes', async ({ body }) => ({ noted: body }));
app.register(
  async (garden) => {
    // The handlers read the bodies, because Fastify's JSON parser rounds ids beyond 2^53.
    garden.removeAllContentTypeParsers();
    garden.addContentTypeParser('*', (_request, _body, done) => done(null));
    for (const { path, handle } of api.endpoints)
      garden.all(path, async ({ raw, originalUrl }, reply) => {
        const { status, headers, body } = await handle({ req: raw, res: reply.raw, originalUrl });
        return reply.code(status).headers(headers).send(Buffer.from(body));
      });
  },
  { prefix: '/garden' },
);
console.log(`listens on ${await app.listen({ port: Number(process.env.PORT) })}`);
