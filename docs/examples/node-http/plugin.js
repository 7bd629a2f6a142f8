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

/** Creates a server without a framework. Its options are those of `createOperations` and `NodeHttpServer`, and `basePath`. */
export function createServer(options) {
  const { basePath = '' } = options;
  const description = JSON.stringify({ ...openApiDescription, servers: [{ url: basePath || '/' }] });
  const getDescription = { path: '/openapi.json', run: async () => description };
  const routes = [
    ...createOperations(options),
    { ...getDescription, method: 'GET' },
    { ...getDescription, method: 'HEAD' },
  ].map((route) => ({ ...route, pattern: toPattern(basePath + route.path) }));

  return new NodeHttpServer((req, res) => {
    handleRequest(req, res, options, async (exchange) => {
      const path = req.url.replace(/\?.*/, '');
      const found = routes.filter(({ pattern }) => pattern.test(path));
      if (found.length === 0) throw new ApiException(apiErrors.noSuchPath);
      const route = found.find(({ method }) => method === req.method);
      if (route === undefined) throw methodNotAllowed(found.map(({ method }) => method));
      const body = await route.run(exchange, { parameters: route.pattern.exec(path).groups });
      res.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
      res.end(body);
    });
  }, options);
}

/** Converts `/plants/{plantId}` to a regular expression with the group `plantId`. */
const toPattern = (path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

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
