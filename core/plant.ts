/** The smallest plant id: −2⁶³ (specification, "NewPlant": `id` has the format int64). */
export const PLANT_ID_MIN: bigint = -(2n ** 63n);

/** The largest plant id: 2⁶³ − 1 (specification, "NewPlant": `id` has the format int64). */
export const PLANT_ID_MAX: bigint = 2n ** 63n - 1n;

declare const plantId: unique symbol;

/** An int64. It is a `bigint` everywhere, because a JavaScript number is not exact beyond 2⁵³. */
export type PlantId = bigint & { readonly [plantId]: true };

/** Whether `value` names a plant: an int64, both ends included. */
export function isPlantId(value: bigint): value is PlantId {
  return PLANT_ID_MIN <= value && value <= PLANT_ID_MAX;
}

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
export const PLANT_ID_MESSAGE: string = `id must be an integer from ${PLANT_ID_MIN} to ${PLANT_ID_MAX}`;

/**
 * A plant. Every instance keeps the invariants: its id is a {@link PlantId}, its texts are well-formed Unicode without
 * U+0000, because some storage could not keep others code point for code point.
 */
export class Plant {
  readonly id: PlantId;
  /** Any text, the empty one too. */
  readonly name: string;
  /** The type of the plant, where it has one. */
  readonly tag: string | undefined;

  private constructor(id: PlantId, name: string, tag: string | undefined) {
    this.id = id;
    this.name = name;
    this.tag = tag;
  }

  /** The plant that `candidate` describes, or every rule that it breaks. */
  static from(candidate: NewPlant): Plant | readonly Violation[] {
    const { id, name, tag } = candidate;
    if (isPlantId(id) && isFaithfulText(name) && (tag === undefined || isFaithfulText(tag))) {
      return new Plant(id, name, tag);
    }
    const violations: Violation[] = [];
    if (!isPlantId(id)) violations.push({ field: 'id', message: PLANT_ID_MESSAGE });
    if (!isFaithfulText(name)) violations.push(textViolation('name'));
    if (tag !== undefined && !isFaithfulText(tag)) violations.push(textViolation('tag'));
    return violations;
  }

  /** Whether both are the same in id, name and tag, code point for code point. */
  equals(other: Plant): boolean {
    return this.id === other.id && this.name === other.name && this.tag === other.tag;
  }
}

function isFaithfulText(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0');
}

function textViolation(field: 'name' | 'tag'): Violation {
  return { field, message: `${field} must not contain U+0000 or a lone surrogate` };
}
