import type { NewPlant } from '@plant-store/core';
import type { ValidateFunction } from 'ajv/dist/2020.js';

/** Validates by the exported description. `build.js` compiles it, because a Content-Security-Policy may forbid it later. */
export declare const isNewPlant: ValidateFunction<Omit<NewPlant, 'id'>>;
