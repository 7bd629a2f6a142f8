export { addRoutes, createBaseApp, createKoaApp, createKoaServer, type RouteOptions } from './app.js';
export type { RequestState } from './context.js';
export type { FinishedRequest, Log, LogOptions } from './log-requests.js';
export type { HttpCreatePlant, Load } from './middlewares.js';
export { HttpServer, type HttpServerOptions } from './server.js';
