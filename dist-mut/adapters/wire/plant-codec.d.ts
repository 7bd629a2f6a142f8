import { type NewPlant, type Plant } from '../../core/index.js';
import type { OpenApiDescription } from './description.js';
import { type Rejection } from './rejection.js';
/** JSON text to plants and back, exactly, by the schemas of the OpenAPI description. */
export declare class PlantCodec {
    #private;
    constructor(description: OpenApiDescription);
    /**
     * Reads a NewPlant: UTF-8, then JSON, then the schema, then the digits of its id. All violations are in one message.
     *
     * @param bytes one JSON text; a byte order mark before it is ignored (RFC 8259 §8.1)
     */
    decode(bytes: Uint8Array): NewPlant | Rejection;
    /** The Plant of a successful answer (specification, "Plant"): name and tag, never the id. */
    encode({ name, tag }: Plant): string;
    /** A plant as the NewPlant that {@link decode} reads, with the digits of its id. */
    encodeNewPlant({ id, name, tag }: Plant): string;
}
//# sourceMappingURL=plant-codec.d.ts.map