export { type FinishedRequest, type Handle, HttpApi, type HttpApiOptions, type Log } from './http-api.js';
export type { HttpCreatePlant, OperationOptions } from './operations.js';
export type { HttpRequest, HttpRoute, Reply } from './reply.js';
export { type HttpServerOptions, NodeHttpServer } from './server.js';
