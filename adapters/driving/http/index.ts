export { AdmissionControl, type AdmissionLimits } from './admission-control.js';
export { ApiException, methodNotAllowed } from './api-exception.js';
export type { CollectBody } from './body.js';
export { handleRequest, type Log, type RequestLog, type RequestReport, type RequestSummary } from './exchange.js';
export { createOperations, type HttpOperation, type OperationOptions, type OperationRequest } from './operations.js';
export { type HttpServer, type HttpServerOptions, NodeHttpServer } from './server.js';
