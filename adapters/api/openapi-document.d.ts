import type { OpenApiDescription } from './description.js';

/** `docs/openapi.yaml` as a module, which `docs/build.js` writes. */
declare const document: OpenApiDescription;
export default document;
