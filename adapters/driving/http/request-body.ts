import type { IncomingMessage } from 'node:http';
import type { HttpError } from './http-error.js';

const rejections = new WeakMap<IncomingMessage, HttpError>();

/** Makes {@link untilRejected} fail for a request whose body is late or malformed. Later calls have no effect. */
export function rejectRequest(req: IncomingMessage, error: HttpError): void {
  if (req.complete || rejections.has(req)) return;
  rejections.set(req, error);
  req.emit('rejected');
}

/** Waits for the body of a request, until the server rejects the request. */
export function untilRejected<T>(req: IncomingMessage, body: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(rejections.get(req));
    req.once('rejected', fail);
    body.then(resolve, reject).finally(() => req.off('rejected', fail));
    if (rejections.has(req)) fail();
  });
}
