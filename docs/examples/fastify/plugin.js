import Fastify from 'fastify';
import { services } from 'plant-store';
import { plants } from '../mounted/fastify-plants.js';

/** Creates the HTTP API with Fastify: its routes, its body parser and its request log, in the log of the service. */
async function createListener(createPlant, tokenVerifier, description, log, { basePath, bodyLimitBytes: bodyLimit }) {
  const app = Fastify({ loggerInstance: log, exposeHeadRoutes: true, requestIdHeader: 'x-request-id' });
  app.register(plants, { prefix: basePath, bodyLimit, createPlant, tokenVerifier, description });
  // A route of your own keeps Fastify's JSON parser.
  app.post('/notes', async ({ body }) => ({ noted: body }));
  await app.ready();
  return app.routing;
}

/** The plugin: this listener replaces Koa, and the routes of other plugins: `PLUGINS=./fastify/plugin.js npx plant-store`. */
export default (container, config) => {
  container
    .rebind(services.RequestListener)
    .toResolvedValue(
      (...parts) => createListener(...parts, config),
      [services.CreatePlant, services.TokenVerifier, services.Description, services.Logger],
    );
};
