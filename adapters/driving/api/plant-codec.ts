import type { NewPlant, Plant } from '@plant-store/core';
import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { type ApiError, apiErrors, toSentence } from './api-errors.js';
import { type OpenApiDescription, openApiDescription } from './description.js';
import { isNewPlant } from './is-new-plant.js';

/** The result of {@link JsonPlantCodec.decodeNewPlant}. */
export type DecodeResult =
  | { readonly kind: 'decoded'; readonly newPlant: NewPlant }
  | { readonly kind: 'rejected'; readonly error: ApiError };

const ID_RANGE = toSentence({ field: 'id', rule: 'range' });

/** Converts plants to and from JSON with exact ids, for every driving adapter. Validates with the schemas of a description. */
export class JsonPlantCodec {
  readonly #isNewPlant = isNewPlant;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });

  /** Compiles the schemas of a description that the build has not compiled. A Content-Security-Policy must allow it. */
  constructor(description: OpenApiDescription = openApiDescription) {
    if (JSON.stringify(description) === JSON.stringify(openApiDescription)) return;
    const ajv = new Ajv2020({ allErrors: true, verbose: true, meta: false, validateSchema: false });
    addFormats.default(ajv);
    // Makes Ajv ignore the other top-level members of the OpenAPI document, such as "paths".
    ajv.addVocabulary(Object.keys(description));
    ajv.addSchema(description, 'description');
    this.#isNewPlant = ajv.compile({ $ref: 'description#/components/schemas/NewPlant' });
  }

  /**
   * Decodes a NewPlant: checks UTF-8, JSON, the schema and the digits of the id. One message names all violations.
   * @param bytes One JSON text. A leading byte order mark is ignored (RFC 8259 §8.1).
   */
  decodeNewPlant(bytes: Uint8Array): DecodeResult {
    if (bytes.length === 0) return rejected(apiErrors.notJson, 'The input is empty');
    let text: string;
    try {
      text = this.#utf8.decode(bytes);
    } catch {
      return rejected(apiErrors.notJson, 'The input is not UTF-8');
    }
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return rejected(apiErrors.notJson, 'The input is not valid JSON');
    }
    // JSON.parse rounds the id.
    const digits = findNumberText(text, 'id');
    const id = digits === undefined ? undefined : parseExactInteger(digits);
    // Plant.from checks the range of the id.
    if (this.#isNewPlant(body) && id !== undefined) {
      const { name, tag } = body;
      return { kind: 'decoded', newPlant: { id, name, tag } satisfies Required<NewPlant> };
    }
    const violations = new Set(this.#isNewPlant.errors?.map(describeProblem));
    // A fraction that JSON.parse rounds to an integer, or more digits than an int64.
    if (digits !== undefined && id === undefined) violations.add(ID_RANGE);
    return rejected(apiErrors.notANewPlant, [...violations].join('; '));
  }

  /** Encodes a plant as a NewPlant with an exact id, as {@link decodeNewPlant} reads it. */
  encodeNewPlant({ id, name, tag }: Plant): string {
    const json = JSON.stringify({ id: 0, name, tag } satisfies Record<keyof NewPlant, unknown>);
    // The first 0 stands for the id, because JSON.stringify throws for a bigint.
    return json.replace('0', `${id}`);
  }

  /** Encodes the body of a successful response: the strings, never the id (`Plant` in docs/openapi.yaml). */
  encodePlant({ name, tag }: Plant): string {
    return JSON.stringify({ name, tag } satisfies Required<Omit<NewPlant, 'id'>>);
  }
}

function rejected(error: ApiError, message: string): DecodeResult {
  return { kind: 'rejected', error: { ...error, message } };
}

function describeProblem({ instancePath, keyword, params, parentSchema, message }: ErrorObject): string {
  const field = instancePath.slice(1);
  if (keyword === 'required') return `${params['missingProperty']} is required`;
  if (field === '') return keyword === 'type' ? 'The JSON value must be an object' : `The JSON value ${message}`;
  if (parentSchema?.['format'] === 'int64') return ID_RANGE;
  if (keyword === 'type') return `${field} must be a ${params['type']}`;
  return `${field} ${message}`;
}

/** Matches what follows a key; captures the value if it is a number. */
const VALUE = /\s*:\s*(-?\d[\d.eE+-]*)?/y;

/** Number of digits of the largest int64. */
const MAX_DIGITS = 19;

/**
 * Returns the numeric value of the member `key` as written, because JSON.parse rounds it. Returns `undefined` if the
 * text is not an object with this member, or its value is not a number. Of several equal keys, the last one counts.
 *
 * Scans once, without recursion, so that deep nesting cannot overflow the stack.
 * @param json A text that JSON.parse accepted.
 */
export function findNumberText(json: string, key: string): string | undefined {
  let text: string | undefined;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (character === '{' || character === '[') depth++;
    else if (character === '}' || character === ']') depth--;
    else if (character === '"') {
      const start = at++;
      while (json[at] !== '"') at += json[at] === '\\' ? 2 : 1;
      VALUE.lastIndex = at + 1;
      // A string without a colon after it is a value, not a key.
      const value = depth === 1 ? VALUE.exec(json) : null;
      if (value && JSON.parse(json.slice(start, at + 1)) === key) text = value[1];
    }
  }
  return text;
}

/**
 * Parses a JSON number as an exact integer. `1.0`, `1e3` and `10e-1` are integers (JSON Schema 2020-12, "integer"),
 * `-0` is 0. Returns `undefined` for a fraction and for numbers with more digits than an int64.
 * @param source A number in the JSON grammar (RFC 8259 §6).
 */
export function parseExactInteger(source: string): bigint | undefined {
  // The usual case, which needs no further check: up to 18 digits always fit.
  if (/^-?\d{1,18}$/.test(source)) return BigInt(source);
  const [, sign = '', whole = '', fraction = '', exponent = ''] = /^(-?)(\d+)\.?(\d*)[eE]?(.*)$/.exec(source) ?? [];
  const digits = whole + fraction;
  const first = digits.search(/[1-9]/);
  if (first === -1) return 0n;
  const point = whole.length + Number(exponent);
  const hasFraction = /[1-9]/.test(digits.slice(Math.max(point, 0)));
  if (hasFraction || point - first > MAX_DIGITS) return undefined;
  return BigInt(sign + digits.slice(first, point).padEnd(point - first, '0'));
}
