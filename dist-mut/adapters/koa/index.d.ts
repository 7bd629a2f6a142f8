export { Admission, type AdmissionLimits } from './admission.js';
export { createApp, type Log } from './app.js';
export { type PlantRouterOptions, plantRouter } from './router.js';
export { HttpServer, type ServerTimeouts } from './server.js';
//# sourceMappingURL=index.d.ts.map