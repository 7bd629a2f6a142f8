import Fastify from 'fastify';
import { apiErrors, openApiDescription } from 'plant-store/adapters/api';
import {
  AdmissionControl,
  ApiException,
  createOperations,
  handleRequest,
  methodNotAllowed,
  NodeHttpServer,
} from 'plant-store/adapters/http';
import { services } from 'plant-store/composition';

/** Creates a server with Fastify. Its options are those of `createOperations` and `NodeHttpServer`, and `basePath`. */
export async function createServer(options) {
  const { basePath = '' } = options;
  const app = Fastify({ routerOptions: { maxParamLength: 1000 } });
  /** The requests in progress. */
  const exchanges = new WeakMap();
  const fail = ({ raw }, reply, error) => {
    reply.hijack();
    exchanges.get(raw).reject(error);
  };

  // A route of your own keeps Fastify's JSON parser and error handler.
  app.post('/notes', async ({ body }) => ({ noted: body }));

  const methods = new Map();
  const addRoute = (method, path, run) => {
    const url = basePath + path.replaceAll(/\{(\w+)\}/g, ':$1');
    methods.set(url, [...(methods.get(url) ?? []), method]);
    // Responds before Fastify reads the body: the operation does that, because Fastify's JSON parser rounds ids beyond 2^53.
    const onRequest = async (request, reply) => {
      const { raw, params: parameters } = request;
      try {
        const body = await run(exchanges.get(raw).exchange, { parameters });
        await reply.header('Content-Type', 'application/json').send(Buffer.from(body));
      } catch (error) {
        fail(request, reply, error);
      }
    };
    app.route({ method, url, onRequest, handler() {}, exposeHeadRoute: false });
  };
  for (const { method, path, run } of createOperations(options)) addRoute(method, path, run);
  const description = JSON.stringify({ ...openApiDescription, servers: [{ url: basePath || '/' }] });
  for (const method of ['GET', 'HEAD']) addRoute(method, '/openapi.json', async () => description);

  app.addHook('onRequest', async (request, reply) => {
    if (!request.is404) return;
    const allowed = methods.get(request.raw.url.replace(/\?.*/, ''));
    fail(request, reply, allowed ? methodNotAllowed(allowed) : new ApiException(apiErrors.noSuchPath));
  });
  app.addHook('onResponse', async ({ raw }) => exchanges.get(raw).resolve());
  await app.ready();

  return new NodeHttpServer((req, res) => {
    const handle = (exchange) =>
      new Promise((resolve, reject) => {
        exchanges.set(req, { exchange, resolve, reject });
        app.routing(req, res);
      });
    handleRequest(req, res, options, handle);
  }, options);
}

/** The plugin: the service uses this server instead of Koa. */
export default (container) => {
  container.rebind(services.HttpServer).toResolvedValue(
    (config, createPlant, tokenVerifier, log, metrics) => {
      const admission = new AdmissionControl(config);
      metrics?.gauge('creates_in_flight', 'Creates in flight.', () => admission.inFlight);
      const onRequestEnd = metrics?.requests();
      return createServer({ ...config, createPlant, tokenVerifier, log, admission, onRequestEnd });
    },
    [services.Config, services.CreatePlant, services.TokenVerifier, services.Logger, services.Metrics],
  );
};
