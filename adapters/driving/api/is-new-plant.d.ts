import type { NewPlant } from '@plant-store/core';
import type { ValidateFunction } from 'ajv/dist/2020.js';

/**
 * Validates by the schema of NewPlant in `docs/openapi.yaml`. `build.js` generates it with Ajv, which compiles with
 * `new Function`: a Content-Security-Policy may forbid that.
 */
export declare const isNewPlant: ValidateFunction<Omit<NewPlant, 'id'>>;
