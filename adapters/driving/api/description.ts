import document from './openapi-document.js';

/** The parts of an OpenAPI 3.1 document that the adapters read. */
export interface OpenApiDescription {
  readonly openapi: string;
  readonly servers?: readonly { readonly url: string }[];
  /** Operations by path, then by method in lower case. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, DescribedOperation>>>>;
  readonly [member: string]: unknown;
}

/** An operation as the description has it. */
export interface DescribedOperation {
  readonly operationId: string;
  readonly requestBody?: object;
}

/** One operation of a description. */
export interface Operation {
  readonly operationId: string;
  /** In upper case. */
  readonly method: string;
  /** Such as `/plants/{plantId}`. */
  readonly path: string;
  readonly hasBody: boolean;
}

/** The description of the HTTP API, `docs/openapi.yaml`, as code instead of a file, so that bundles contain it. */
export const openApiDescription: OpenApiDescription = document;

/** Returns the operations of a description. Each GET is followed by its HEAD (RFC 9110 §9.1). */
export function operationsOf({ paths }: OpenApiDescription): readonly Operation[] {
  return Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).flatMap(([method, { operationId, requestBody }]) => {
      const methods = method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()];
      return methods.map((each) => ({ operationId, method: each, path, hasBody: requestBody !== undefined }));
    }),
  );
}
