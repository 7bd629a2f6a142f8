export { addRoutes, type ClientRoutes, createBaseApp, createKoaApp, type RouteOptions } from './app.js';
export { type ClientState, type InFlight, type RequestState, reject } from './context.js';
