export { Admission, type AdmissionLimits } from './admission.js';
export { type AnsweredRequest, type AppOptions, createApp, type Log } from './app.js';
export { docsRouter } from './docs-page.js';
export { type PlantRouterOptions, plantRouter } from './router.js';
export { HttpServer, type ServerTimeouts } from './server.js';
