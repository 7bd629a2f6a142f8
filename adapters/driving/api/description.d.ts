/** An operation of an {@link OpenApiDescription}. */
export type OpenApiOperation = { responses: Record<string, object>; [member: string]: unknown };

/** The parts of an OpenAPI 3.1 document that the adapters read. */
export interface OpenApiDescription {
  openapi: string;
  /** Operations by path, such as `/plants/{plantId}`, then by method in lower case. Their responses are by status. */
  paths: {
    '/plants': { post: OpenApiOperation; [method: string]: OpenApiOperation };
    [path: string]: Record<string, OpenApiOperation>;
  };
  components: { schemas: Record<string, object>; [member: string]: unknown };
  [member: string]: unknown;
}

type Frozen<T> = T extends object ? { readonly [Member in keyof T]: Frozen<T[Member]> } : T;

/**
 * The description of the HTTP API, `docs/openapi.yaml`. `build.js` writes it as code instead of a file, so that bundles
 * contain it. Frozen, so change a copy: `structuredClone(openApiDescription)`.
 */
export declare const openApiDescription: Frozen<OpenApiDescription>;
