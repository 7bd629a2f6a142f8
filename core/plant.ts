/** The smallest plant id: −2⁶³ (`NewPlant` in docs/openapi.yaml: `id` has the format int64). */
export const MIN_PLANT_ID: bigint = -(2n ** 63n);

/** The largest plant id: 2⁶³ − 1. */
export const MAX_PLANT_ID: bigint = 2n ** 63n - 1n;

/** An int64. A `bigint`, because a JavaScript number is not exact beyond 2⁵³. */
export type PlantId = bigint;

/** The unchecked input for a {@link Plant}. */
export interface NewPlant {
  /** An int64 that the client chooses. */
  readonly id: PlantId;
  /** Any well-formed Unicode string without U+0000; may be empty. */
  readonly name: string;
  /** The type of the plant; same rules as `name`. */
  readonly tag?: string | undefined;
}

/** One rule that a field of a {@link NewPlant} breaks. */
export interface Violation {
  readonly field: keyof NewPlant;
  /** `type`: wrong type; `range`: id outside int64; `text`: U+0000 or a lone surrogate, which some engine cannot store. */
  readonly rule: 'type' | 'range' | 'text';
}

/** The result of {@link Plant.from}. */
export type PlantResult =
  | { readonly kind: 'valid'; readonly plant: Plant }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] };

/** A valid, immutable plant. Strings are stored and compared code point for code point. */
export class Plant implements NewPlant {
  /** Makes the compiler reject objects that {@link from} has not created. */
  declare protected readonly isValid: true;
  /** Identifies the plant forever. */
  readonly id: PlantId;
  readonly name: string;
  readonly tag: string | undefined;

  private constructor({ id, name, tag }: Required<NewPlant>) {
    this.id = id;
    this.name = name;
    this.tag = tag;
    Object.freeze(this);
  }

  /** Validates the fields, types included, and returns the plant or every violation. */
  static from({ id, name, tag }: NewPlant): PlantResult {
    const checks = {
      id: checkId(id),
      name: checkText('name', name),
      tag: tag === undefined ? undefined : checkText('tag', tag),
    } satisfies Record<keyof NewPlant, Violation | undefined>;
    const violations: Violation[] = [];
    for (const violation of Object.values(checks)) if (violation) violations.push(violation);
    if (violations.length > 0) return { kind: 'invalid', violations };
    return { kind: 'valid', plant: new Plant({ id, name, tag }) };
  }

  /** Returns whether all fields are identical. */
  equals({ id, name, tag }: Plant): boolean {
    return this.id === id && this.name === name && this.tag === tag;
  }
}

function checkId(id: unknown): Violation | undefined {
  if (typeof id !== 'bigint') return { field: 'id', rule: 'type' };
  return MIN_PLANT_ID <= id && id <= MAX_PLANT_ID ? undefined : { field: 'id', rule: 'range' };
}

/** Rejects what some engine cannot store exactly. */
function checkText(field: 'name' | 'tag', text: unknown): Violation | undefined {
  if (typeof text !== 'string') return { field, rule: 'type' };
  return text.isWellFormed() && !text.includes('\0') ? undefined : { field, rule: 'text' };
}
