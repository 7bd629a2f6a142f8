/** An OpenAPI 3.1 document, as far as this house reads it. */
export interface OpenApiDescription {
    readonly openapi: string;
    readonly servers?: readonly {
        readonly url: string;
    }[];
    readonly [member: string]: unknown;
}
/** The one description of the interface: `docs/openapi.yaml`, which the build turns into JSON. */
export declare function loadDescription(): OpenApiDescription;
//# sourceMappingURL=description.d.ts.map