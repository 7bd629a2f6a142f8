export { addRoutes, createBaseApp, createKoaApp, type RouteOptions } from './app.js';
export type { HttpCreatePlant, Load, RequestState } from './context.js';
