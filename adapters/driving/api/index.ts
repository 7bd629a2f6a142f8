export { type ApiError, apiErrors, type Declined, failureToApiError, toApiError, toStatus } from './api-errors.js';
export { type Authentication, authenticate } from './credential.js';
export { type OpenApiDescription, openApiDescription } from './description.js';
export { type DecodeResult, JsonPlantCodec } from './plant-codec.js';
export { type FinishedRequest, type Log, type LogOptions, toRequestId } from './request-log.js';
