import { randomUUID } from 'node:crypto';
import {
  apiErrors,
  authenticate,
  failureToApiError,
  JsonPlantCodec,
  toApiError,
  toStatus,
} from '@plant-store/adapters/api';
import { services } from 'plant-store';

/** Creates the HTTP API on `node:http` alone. */
function createListener(createPlant, tokenVerifier, description, log, { basePath = '', bodyLimitBytes }) {
  const codec = new JsonPlantCodec(description);
  const json = JSON.stringify({ ...description, servers: [{ url: basePath || '/' }] });
  const respond = async (req, res) => {
    const [path] = req.url.split('?');
    const isRead = ['GET', 'HEAD'].includes(req.method);
    if (path === `${basePath}/openapi.json`)
      return isRead ? json : { ...apiErrors.methodNotAllowed, headers: { Allow: 'GET, HEAD' } };
    if (path !== `${basePath}/plants`) return apiErrors.noSuchPath;
    if (req.method !== 'POST') return { ...apiErrors.methodNotAllowed, headers: { Allow: 'POST' } };
    const client = await authenticate(req.headers.authorization, tokenVerifier);
    if (client.kind === 'rejected') return client.error;
    const error = checkHeaders(req, bodyLimitBytes);
    if (error) return error;
    if (req.headers.expect) res.writeContinue();
    const body = await readBody(req, bodyLimitBytes);
    if (body === undefined) return apiErrors.bodyTooLarge;
    const decoded = codec.decodeNewPlant(body);
    if (decoded.kind === 'rejected') return decoded.error;
    const outcome = await createPlant.execute(decoded.newPlant, client.principal);
    return outcome.kind === 'created' ? codec.encodePlant(outcome.plant) : toApiError(outcome);
  };
  return async (req, res) => {
    const requestId = randomUUID();
    const send = (result) => {
      // The client has left, or the server has responded to a malformed or late body.
      if (res.closed) return;
      res.setHeader('X-Request-Id', requestId).setHeader('Content-Type', 'application/json');
      if (typeof result === 'string') return res.end(result);
      const { error, message, headers } = result;
      res.writeHead(toStatus(result), headers).end(JSON.stringify({ error, message }));
    };
    try {
      send(await respond(req, res));
    } catch (err) {
      if (!req.errored) log.error({ requestId, err }, 'request failed');
      send(failureToApiError(err));
    }
  };
}

function checkHeaders({ headers }, limit) {
  const { expect, 'content-type': type = '', 'content-encoding': encoding = 'identity' } = headers;
  if (expect && expect.toLowerCase() !== '100-continue') return apiErrors.unknownExpectation;
  if (!/^application\/json[\t ]*(;|$)/i.test(type)) return apiErrors.unsupportedMediaType;
  if (encoding.toLowerCase() !== 'identity') return apiErrors.unsupportedEncoding;
  return Number(headers['content-length']) > limit ? apiErrors.bodyTooLarge : undefined;
}

/** Returns `undefined`, and discards the rest, if the body is larger than the limit. */
async function readBody(req, limit) {
  // One character per byte, because a chunk of bytes takes more memory than one of text.
  req.setEncoding('latin1');
  let text = '';
  // Destroying the request would also destroy the connection.
  for await (const chunk of req.iterator({ destroyOnReturn: false })) {
    text += chunk;
    if (text.length > limit) break;
  }
  req.resume();
  return text.length > limit ? undefined : Buffer.from(text, 'latin1');
}

/** The plugin: this listener replaces Koa, and with it the routes of other plugins. */
export default (container, config) => {
  container
    .rebind(services.RequestListener)
    .toResolvedValue(
      (...parts) => createListener(...parts, config),
      [services.CreatePlant, services.TokenVerifier, services.Description, services.Logger],
    );
};
