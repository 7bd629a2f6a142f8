import { METHODS } from 'node:http';
import Fastify from 'fastify';
import { services } from 'plant-store';

/** Creates a listener that finds the handlers of the HTTP API with Fastify, and writes their replies with it. */
export async function createListener(api) {
  const write = (reply, { status, headers, body }) => reply.code(status).headers(headers).send(Buffer.from(body));
  const toRequest = ({ raw, params }, reply) => ({ req: raw, res: reply.raw, params });
  const app = Fastify({
    routerOptions: { maxParamLength: 1000 },
    // Of a path with an invalid escape.
    frameworkErrors: async (_, request, reply) => write(reply, await api.notFound(toRequest(request, reply))),
  });
  // For the 405 of methods that Fastify does not know.
  for (const method of METHODS) if (!app.supportedMethods.includes(method)) app.addHttpMethod(method);

  // A route of your own keeps Fastify's JSON parser and error handler.
  app.post('/notes', async ({ body }) => ({ noted: body }));

  // Before Fastify reads the body, because its JSON parser rounds ids beyond 2^53.
  app.addHook('onRequest', async (request, reply) => {
    const { handle = request.is404 && api.notFound } = request.routeOptions.config;
    if (handle) return write(reply, await handle(toRequest(request, reply)));
  });
  for (const { path, handle } of api.endpoints) {
    const url = path.replaceAll(/\{(\w+)\}/g, ':$1');
    const errorHandler = (error, request, reply) => write(reply, api.fail(toRequest(request, reply), error));
    app.route({ method: app.supportedMethods, url, config: { handle }, errorHandler, handler() {} });
  }
  await app.ready();
  return app.routing;
}

/**
 * The plugin: this listener replaces Koa, as in `PLUGINS=./plugin.js npx plant-store`. It passes the HTTP contract except
 * for "responds 40401 to percent escapes", because Fastify decodes paths before it matches them.
 */
export default (container) =>
  container.rebind(services.RequestListener).toResolvedValue(createListener, [services.HttpApi]);
