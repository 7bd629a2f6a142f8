/** The smallest plant id: −2⁶³ (specification, "NewPlant": `id` has the format int64). */
export const MIN_PLANT_ID: bigint = -(2n ** 63n);

/** The largest plant id: 2⁶³ − 1 (specification, "NewPlant": `id` has the format int64). */
export const MAX_PLANT_ID: bigint = 2n ** 63n - 1n;

declare const plantId: unique symbol;

/** An int64. A `bigint`, because a JavaScript number is not exact beyond 2⁵³. */
export type PlantId = bigint & { readonly [plantId]: true };

/** Returns whether `value` is a bigint in the int64 range. */
export function isPlantId(value: unknown): value is PlantId {
  return typeof value === 'bigint' && MIN_PLANT_ID <= value && value <= MAX_PLANT_ID;
}

/** The unchecked input for a {@link Plant}. */
export interface NewPlant {
  /** An int64 that the client chooses. */
  readonly id: bigint;
  /** Any well-formed Unicode text without U+0000; may be empty. */
  readonly name: string;
  /** The type of the plant; same rules as `name`. */
  readonly tag?: string | undefined;
}

/** One rule that a {@link NewPlant} breaks. `message` names the field and never contains its value. */
export interface Violation {
  readonly field: 'id' | 'name' | 'tag';
  /** `type`: wrong type; `range`: id outside int64; `text`: a text that some engine cannot store. */
  readonly rule: 'type' | 'range' | 'text';
  readonly message: string;
}

/** The result of {@link Plant.from}. */
export type PlantResult =
  | { readonly kind: 'valid'; readonly plant: Plant }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] };

/** Error message for an id outside the int64 range. */
export const PLANT_ID_MESSAGE: string = `id must be an integer from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}`;

/** Stops JavaScript callers from calling the private constructor of {@link Plant}. */
const constructorKey = Symbol();

/**
 * A plant. Instances are frozen and valid: the id is a {@link PlantId}, and the texts are well-formed Unicode without
 * U+0000, because some engines cannot store other texts exactly.
 */
export class Plant {
  /** Marks real instances; `instanceof` also accepts `Object.create(Plant.prototype)`. */
  readonly #brand = true;
  /** Identifies the plant forever. */
  readonly id: PlantId;
  /** The name, code point for code point as given. */
  readonly name: string;
  /** The type of the plant, if it was given. */
  readonly tag: string | undefined;

  private constructor(key: symbol, id: PlantId, name: string, tag: string | undefined) {
    if (key !== constructorKey) throw new TypeError('Plant has no public constructor; use Plant.from');
    this.id = id;
    this.name = name;
    this.tag = tag;
    Object.freeze(this);
  }

  /** Validates `candidate`, types included, and returns the plant or every violation. */
  static from(candidate: NewPlant): PlantResult {
    const { id, name, tag }: Partial<Record<keyof NewPlant, unknown>> = candidate ?? {};
    if (isPlantId(id) && isStorableText(name) && (tag === undefined || isStorableText(tag))) {
      return { kind: 'valid', plant: new Plant(constructorKey, id, name, tag) };
    }
    const violations: Violation[] = [];
    if (!isPlantId(id)) violations.push(idViolation(id));
    if (!isStorableText(name)) violations.push(textViolation('name', name));
    if (tag !== undefined && !isStorableText(tag)) violations.push(textViolation('tag', tag));
    return { kind: 'invalid', violations };
  }

  /**
   * Asserts that `values` is an array of plants. Every repository calls this before it stores anything.
   * @throws {TypeError} A value was not made by this copy of the module; the invariants of another copy may differ.
   */
  static assertAll(values: unknown): asserts values is readonly Plant[] {
    if (!Array.isArray(values)) throw new TypeError('plants must be an array');
    const index = values.findIndex((value: unknown) => !(value instanceof Plant && #brand in value));
    if (index !== -1) throw new TypeError(`plants[${index}] is not a Plant made by this copy of plant-store/core`);
  }

  /** Returns whether id, name and tag are identical, code point for code point. */
  equals(other: Plant): boolean {
    return this.id === other.id && this.name === other.name && this.tag === other.tag;
  }
}

function isStorableText(text: unknown): text is string {
  return typeof text === 'string' && text.isWellFormed() && !text.includes('\0');
}

function idViolation(id: unknown): Violation {
  return typeof id === 'bigint'
    ? { field: 'id', rule: 'range', message: PLANT_ID_MESSAGE }
    : { field: 'id', rule: 'type', message: 'id must be a bigint' };
}

function textViolation(field: 'name' | 'tag', text: unknown): Violation {
  return typeof text === 'string'
    ? { field, rule: 'text', message: `${field} must not contain U+0000 or a lone surrogate` }
    : { field, rule: 'type', message: `${field} must be a string` };
}
