import { services } from 'plant-store';

/** Creates a listener for `node:http` that finds the handlers of the HTTP API by path, and writes their replies. */
export function createListener(api) {
  const endpoints = api.endpoints.map(({ path, handle }) => ({ pattern: toPattern(path), handle }));

  return (req, res) => {
    const path = req.url.replace(/\?.*/, '');
    const { pattern, handle } = endpoints.find((endpoint) => endpoint.pattern.test(path)) ?? { handle: api.notFound };
    const request = { req, res, params: pattern?.exec(path).groups };
    const written = handle(request).then((reply) => write(res, reply));
    written.catch((failure) => write(res, api.fail(request, failure)));
  };
}

function write(res, { status, headers, body }) {
  if (res.headersSent) return res.destroy();
  res.statusCode = status;
  res.setHeaders(new Map(Object.entries(headers))).end(body);
}

/** Converts `/plants/{plantId}` to a regular expression with the group `plantId`. */
const toPattern = (path) => new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`);

/** The plugin: this listener replaces Koa. */
export default (container) => {
  container.rebind(services.RequestListener).toResolvedValue(createListener, [services.HttpApi]);
};
