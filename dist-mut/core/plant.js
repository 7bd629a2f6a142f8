/** The smallest plant id: −2⁶³ (specification, "NewPlant": `id` has the format int64). */
export const PLANT_ID_MIN = -(2n ** 63n);
/** The largest plant id: 2⁶³ − 1 (specification, "NewPlant": `id` has the format int64). */
export const PLANT_ID_MAX = 2n ** 63n - 1n;
/** Whether `value` names a plant: an int64, both ends included. */
export function isPlantId(value) {
    return PLANT_ID_MIN <= value && value <= PLANT_ID_MAX;
}
/** What is said of an id that is no {@link PlantId}. */
export const PLANT_ID_MESSAGE = `id must be an integer from ${PLANT_ID_MIN} to ${PLANT_ID_MAX}`;
/**
 * A plant. Every instance keeps the invariants: its id is a {@link PlantId}, its texts are well-formed Unicode without
 * U+0000, because some storage could not keep others code point for code point.
 */
export class Plant {
    id;
    /** Any text, the empty one too. */
    name;
    /** The type of the plant, where it has one. */
    tag;
    constructor(id, name, tag) {
        this.id = id;
        this.name = name;
        this.tag = tag;
    }
    /** The plant that `candidate` describes, or every rule that it breaks. */
    static from(candidate) {
        const { id, name, tag } = candidate;
        if (isPlantId(id) && isFaithfulText(name) && (tag === undefined || isFaithfulText(tag))) {
            return new Plant(id, name, tag);
        }
        const violations = [];
        if (!isPlantId(id))
            violations.push({ field: 'id', message: PLANT_ID_MESSAGE });
        if (!isFaithfulText(name))
            violations.push(textViolation('name'));
        if (tag !== undefined && !isFaithfulText(tag))
            violations.push(textViolation('tag'));
        return violations;
    }
    /** Whether both are the same in id, name and tag, code point for code point. */
    equals(other) {
        return this.id === other.id && this.name === other.name && this.tag === other.tag;
    }
}
function isFaithfulText(text) {
    return text.isWellFormed() && !text.includes('\0');
}
function textViolation(field) {
    return { field, message: `${field} must not contain U+0000 or a lone surrogate` };
}
//# sourceMappingURL=plant.js.map