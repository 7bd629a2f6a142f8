export { type ApiError, apiErrors, type Declined, failureToApiError, toApiError, toStatus } from './api-errors.js';
export { type OpenApiDescription, type OpenApiOperation, openApiDescription } from './description.js';
export { type DecodeResult, JsonPlantCodec } from './plant-codec.js';
export { type Authentication, authenticate, toRequestId } from './request-headers.js';
export type { FinishedRequest, Log, LogOptions } from './request-log.js';
