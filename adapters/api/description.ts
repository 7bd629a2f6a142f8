import document from './openapi-document.js';

/** The parts of an OpenAPI 3.1 document that the adapters read. */
export interface OpenApiDescription {
  readonly openapi: string;
  readonly servers?: readonly { readonly url: string }[];
  readonly [member: string]: unknown;
}

/** The description of the interface, `docs/openapi.yaml`, as code instead of a file, so that bundles contain it. */
export const openApiDescription: OpenApiDescription = document;
