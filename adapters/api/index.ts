export { type ApiError, apiErrors, failureToApiError, statusOf, toApiError } from './api-errors.js';
export { type OpenApiDescription, openApiDescription } from './description.js';
export { type DecodeResult, PlantCodec } from './plant-codec.js';
