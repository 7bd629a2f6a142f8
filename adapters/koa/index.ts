export { loadDescription, type OpenApiDescription, PlantCodec, type Rejection, statusOf } from '../wire/index.js';
export { Admission, type AdmissionLimits, type Place } from './admission.js';
export { type AnsweredRequest, type AppOptions, createApp, type Log } from './app.js';
export { Refusal, refusalOf } from './refusal.js';
export { type PlantRouterOptions, plantRouter } from './router.js';
export { HttpServer, type ServerTimeouts } from './server.js';
