export { type FinishedRequest, type Handle, HttpApi, type HttpApiOptions, type Log } from './http-api.js';
export type { Declined, HttpCreatePlant, OperationOptions } from './operations.js';
export { errorReply, type HttpRequest, type HttpRoute, type Reply } from './reply.js';
export { type HttpServerOptions, NodeHttpServer } from './server.js';
