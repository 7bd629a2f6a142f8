export { type ApiError, apiErrors, failureToApiError, toApiError, toStatus } from './api-errors.js';
export {
  type DescribedOperation,
  type OpenApiDescription,
  type Operation,
  openApiDescription,
  operationsOf,
} from './description.js';
export { type DecodeResult, PlantCodec } from './plant-codec.js';
