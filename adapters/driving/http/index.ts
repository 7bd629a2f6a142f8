export { AdmissionControl, type AdmissionLimits, type Permit } from './admission-control.js';
export { ApiException, methodNotAllowed } from './api-exception.js';
export type { CollectBody } from './body.js';
export { type Exchange, handleRequest, type Log, type RequestLog, type RequestSummary } from './exchange.js';
export type { HttpServer, HttpServerOptions } from './http-server.js';
export { createOperations, type HttpOperation, type OperationOptions, type OperationRequest } from './operations.js';
export { NodeHttpServer } from './server.js';
