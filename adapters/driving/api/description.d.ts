/** The parts of an OpenAPI 3.1 document that the adapters read. */
export interface OpenApiDescription {
  readonly openapi: string;
  readonly servers?: readonly { readonly url: string }[];
  /** Operations by path, such as `/plants/{plantId}`, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly [member: string]: unknown;
}

interface DescribedOperation {
  /** By status. */
  readonly responses: Record<string, object>;
  readonly [member: string]: unknown;
}

/**
 * The description of the HTTP API, `docs/openapi.yaml`. `build.js` writes it as code instead of a file, so that bundles
 * contain it. Frozen, so change a copy: `structuredClone(openApiDescription)`.
 */
export declare const openApiDescription: OpenApiDescription;
