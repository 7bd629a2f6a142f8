/** The smallest plant id: −2⁶³ (specification, "NewPlant": `id` has the format int64). */
export declare const PLANT_ID_MIN: bigint;
/** The largest plant id: 2⁶³ − 1 (specification, "NewPlant": `id` has the format int64). */
export declare const PLANT_ID_MAX: bigint;
declare const plantId: unique symbol;
/** An int64. It is a `bigint` everywhere, because a JavaScript number is not exact beyond 2⁵³. */
export type PlantId = bigint & {
    readonly [plantId]: true;
};
/** Whether `value` names a plant: an int64, both ends included. */
export declare function isPlantId(value: bigint): value is PlantId;
/** What a client asks for; not yet known to be a {@link Plant}. */
export interface NewPlant {
    readonly id: bigint;
    readonly name: string;
    readonly tag?: string | undefined;
}
/** One rule that a {@link NewPlant} breaks. `message` is a sentence that names the field, without its value. */
export interface Violation {
    readonly field: 'id' | 'name' | 'tag';
    readonly message: string;
}
/** What is said of an id that is no {@link PlantId}. */
export declare const PLANT_ID_MESSAGE: string;
/**
 * A plant. Every instance keeps the invariants: its id is a {@link PlantId}, its texts are well-formed Unicode without
 * U+0000, because some storage could not keep others code point for code point.
 */
export declare class Plant {
    readonly id: PlantId;
    /** Any text, the empty one too. */
    readonly name: string;
    /** The type of the plant, where it has one. */
    readonly tag: string | undefined;
    private constructor();
    /** The plant that `candidate` describes, or every rule that it breaks. */
    static from(candidate: NewPlant): Plant | readonly Violation[];
    /** Whether both are the same in id, name and tag, code point for code point. */
    equals(other: Plant): boolean;
}
export {};
//# sourceMappingURL=plant.d.ts.map