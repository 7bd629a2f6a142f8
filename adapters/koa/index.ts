export { AdmissionControl, type AdmissionLimits, type Permit } from './admission-control.js';
export { type AppOptions, createApp, type Log, type RequestSummary } from './app.js';
export { HttpError, toHttpError } from './http-error.js';
export { createPlantRouter, type PlantRouterOptions } from './router.js';
export { HttpServer, type ServerOptions } from './server.js';
