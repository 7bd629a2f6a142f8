import type { OpenApiDescription } from './description.js';

/** `docs/openapi.yaml` as a module, which `build.js` writes. */
declare const document: OpenApiDescription;
export default document;
