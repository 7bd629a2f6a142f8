export { addRoutes, createBaseApp, createKoaApp, type RouteOptions } from './app.js';
export type { HttpCreatePlant, Load, RequestState } from './context.js';
export type { FinishedRequest, Log, LogOptions } from './log-requests.js';
export { HttpServer, type HttpServerOptions } from './server.js';
