import Fastify from 'fastify';
import { plants } from './fastify-plants.js';
import { createPlant, tokenVerifier } from './store.js';

const app = Fastify();
app.post('/notes', async ({ body }) => ({ noted: body }));
app.register(plants, { prefix: '/garden', createPlant, tokenVerifier });
console.log(`listens on ${await app.listen({ port: Number(process.env.PORT) })}`);
