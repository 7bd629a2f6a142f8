/** The smallest plant id: −2⁶³ (`NewPlant` in docs/openapi.yaml: `id` has the format int64). */
export const MIN_PLANT_ID: bigint = -(2n ** 63n);

/** The largest plant id: 2⁶³ − 1 (`NewPlant` in docs/openapi.yaml: `id` has the format int64). */
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
  /** Any well-formed Unicode string without U+0000; may be empty. */
  readonly name: string;
  /** The type of the plant; same rules as `name`. */
  readonly tag?: string | undefined;
}

/** The name of a string field of a plant. */
export type TextField = Exclude<keyof NewPlant, 'id'>;

/** The name of a string field that a plant may lack. */
export type OptionalText = {
  [Field in TextField]-?: undefined extends NewPlant[Field] ? Field : never;
}[TextField];

/**
 * The string fields of a plant, in the order of columns and JSON members. This is the only list of them: the code that
 * stores, sends, compares or tests plants follows it.
 */
const TEXTS = { name: 'required', tag: 'optional' } as const satisfies {
  readonly [Field in TextField]-?: Field extends OptionalText ? 'optional' : 'required';
};

/** The name of every string field, in order. */
export const TEXT_FIELDS: readonly TextField[] = Object.keys(TEXTS).filter(
  (field): field is TextField => field in TEXTS,
);

/** The names of the string fields that a plant may lack. */
export const OPTIONAL_TEXTS: readonly OptionalText[] = TEXT_FIELDS.filter(
  (field): field is OptionalText => TEXTS[field] === 'optional',
);

/** The strings of a row or a JSON object, which may have `null` for an absent one. */
export type RawTexts = Readonly<Record<Exclude<TextField, OptionalText>, string>> &
  Readonly<Partial<Record<OptionalText, string | null | undefined>>>;

/** Returns the {@link NewPlant} with these strings. Ignores other members of `texts`. */
export function toNewPlant(id: bigint, texts: RawTexts): NewPlant {
  const newPlant: { -readonly [Field in keyof NewPlant]: NewPlant[Field] } = { id, name: texts.name };
  for (const field of OPTIONAL_TEXTS) newPlant[field] = texts[field] ?? undefined;
  return newPlant;
}

const FIELDS = ['id', ...TEXT_FIELDS] as const;

/** One rule that a {@link NewPlant} breaks. `message` names the field and never contains its value. */
export interface Violation {
  readonly field: keyof NewPlant;
  /** `type`: wrong type; `range`: id outside int64; `text`: a string that some engine cannot store. */
  readonly rule: 'type' | 'range' | 'text';
  readonly message: string;
}

/** The result of {@link Plant.from}. */
export type PlantResult =
  | { readonly kind: 'valid'; readonly plant: Plant }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] };

/** Error message for an id outside the int64 range. */
export const PLANT_ID_RANGE_MESSAGE: string = `id must be an integer from ${MIN_PLANT_ID} to ${MAX_PLANT_ID}`;

declare const validPlant: unique symbol;

/** Stops JavaScript callers from calling the private constructor of {@link Plant}. */
const constructorKey = Symbol();

/**
 * A plant. Instances are frozen and valid: the id is a {@link PlantId}, and the strings are well-formed Unicode without
 * U+0000, because some engines cannot store other strings exactly.
 */
export class Plant implements Readonly<Record<TextField, string | undefined>> {
  /** Makes the compiler reject objects that {@link from} has not created. */
  declare readonly [validPlant]: true;
  /** Identifies the plant forever. */
  declare readonly id: PlantId;
  /** The name, code point for code point as given. */
  declare readonly name: string;
  /** The type of the plant, if it was given. */
  declare readonly tag: string | undefined;

  private constructor(key: symbol, candidate: NewPlant) {
    if (key !== constructorKey) throw new TypeError('Plant has no public constructor; use Plant.from');
    copyFields(candidate, this);
    Object.freeze(this);
  }

  /** Validates `candidate`, types included, and returns the plant or every violation. */
  static from(candidate: NewPlant): PlantResult {
    // Copied first, because an object of JavaScript code may change between two reads.
    const plant = new Plant(constructorKey, candidate);
    const violations: Violation[] = [];
    for (const field of FIELDS) {
      const violation = field === 'id' ? findIdViolation(plant.id) : findTextViolation(field, plant[field]);
      if (violation) violations.push(violation);
    }
    return violations.length === 0 ? { kind: 'valid', plant } : { kind: 'invalid', violations };
  }

  /** Returns whether all fields are identical, code point for code point. */
  equals(other: Plant): boolean {
    return FIELDS.every((field) => this[field] === other[field]);
  }

  /** Total length of the strings, in UTF-16 code units. */
  get textLength(): number {
    return TEXT_FIELDS.reduce((sum, field) => sum + (this[field]?.length ?? 0), 0);
  }
}

/** Much faster than `Reflect.set`. */
function copyFields(source: NewPlant | undefined, target: Record<keyof NewPlant, unknown>): void {
  for (const field of FIELDS) target[field] = source?.[field];
}

function findIdViolation(id: unknown): Violation | undefined {
  if (isPlantId(id)) return undefined;
  return typeof id === 'bigint'
    ? { field: 'id', rule: 'range', message: PLANT_ID_RANGE_MESSAGE }
    : { field: 'id', rule: 'type', message: 'id must be a bigint' };
}

function findTextViolation(field: TextField, text: unknown): Violation | undefined {
  if (text === undefined && TEXTS[field] === 'optional') return undefined;
  if (typeof text !== 'string') return { field, rule: 'type', message: `${field} must be a string` };
  if (text.isWellFormed() && !text.includes('\0')) return undefined;
  return { field, rule: 'text', message: `${field} must not contain U+0000 or a lone surrogate` };
}
