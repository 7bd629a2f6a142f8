import { Ajv2020, type CodeOptions } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { OpenApiDescription } from './description.js';

/** The schema of NewPlant, as a reference. */
export const NEW_PLANT = 'description#/components/schemas/NewPlant';

/** Creates an Ajv that knows the schemas of a description. */
export function createAjv(description: OpenApiDescription, code: CodeOptions = {}): Ajv2020 {
  const ajv = new Ajv2020({ allErrors: true, verbose: true, meta: false, validateSchema: false, code });
  addFormats.default(ajv);
  // Makes Ajv ignore the other top-level members of the OpenAPI document, such as "paths".
  ajv.addVocabulary(Object.keys(description));
  ajv.addSchema(description, 'description');
  return ajv;
}
