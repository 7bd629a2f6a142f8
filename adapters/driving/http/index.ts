export { AdmissionControl, type AdmissionLimits, type Permit } from './admission-control.js';
export type { CollectBody } from './body.js';
export { authenticate } from './credential.js';
export { sendError } from './error-response.js';
export { handleRequest, type Log, type RequestLog, type RequestReport, type RequestSummary } from './exchange.js';
export { HttpError, methodNotAllowed, toHttpError } from './http-error.js';
export { createOperations, type HttpOperation, type OperationOptions, type OperationRequest } from './operations.js';
export { type HttpServer, type HttpServerOptions, NodeHttpServer } from './server.js';
