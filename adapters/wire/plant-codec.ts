import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { isPlantId, type NewPlant, PLANT_ID_MESSAGE, type Plant } from '../../core/index.js';
import type { OpenApiDescription } from './description.js';
import { exactInteger, numberSource } from './exact-integer.js';
import { type Rejection, rejections } from './rejection.js';

/** NewPlant as JSON.parse sees it: the id is rounded, so it is good for its type alone. */
interface ParsedNewPlant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string;
}

/** JSON text to plants and back, exactly, by the schemas of the OpenAPI description. */
export class PlantCodec {
  readonly #isNewPlant: ValidateFunction<ParsedNewPlant>;
  readonly #utf8 = new TextDecoder('utf-8', { fatal: true });

  constructor(description: OpenApiDescription) {
    const ajv = new Ajv2020({ allErrors: true, verbose: true, meta: false, validateSchema: false });
    addFormats.default(ajv);
    // The document around the schemas is not for Ajv to judge.
    ajv.addVocabulary(Object.keys(description));
    ajv.addSchema(description, 'description', false, false);
    this.#isNewPlant = ajv.compile({ $ref: 'description#/components/schemas/NewPlant' });
  }

  /**
   * Reads a NewPlant: UTF-8, then JSON, then the schema, then the digits of its id. All violations are in one message.
   *
   * @param bytes one JSON text; a byte order mark before it is ignored (RFC 8259 §8.1)
   */
  decode(bytes: Uint8Array): NewPlant | Rejection {
    if (bytes.length === 0) return { ...rejections.notJson, message: 'The body is empty; it must be one JSON text' };
    let text: string;
    try {
      text = this.#utf8.decode(bytes);
    } catch {
      return { ...rejections.notJson, message: 'The body is not UTF-8' };
    }
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return { ...rejections.notJson, message: 'This is not one JSON text' };
    }
    const isNumeric = typeof body === 'object' && body !== null && 'id' in body && typeof body.id === 'number';
    const id = isNumeric ? exactId(text) : undefined;
    if (this.#isNewPlant(body) && id !== undefined) {
      return { id, name: body.name, tag: body.tag };
    }
    const violations = new Set(this.#isNewPlant.errors?.map(sentence));
    if (isNumeric && id === undefined) violations.add(PLANT_ID_MESSAGE);
    if (violations.size === 0) violations.add('id is required');
    return { ...rejections.notANewPlant, message: [...violations].join('; ') };
  }

  /** The Plant of a successful answer (specification, "Plant"): name and tag, never the id. */
  encode({ name, tag }: Plant): string {
    return JSON.stringify({ name, tag });
  }

  /** A plant as the NewPlant that {@link decode} reads, with the digits of its id. */
  encodeNewPlant({ id, name, tag }: Plant): string {
    const rest = tag === undefined ? '' : `,"tag":${JSON.stringify(tag)}`;
    return `{"id":${id},"name":${JSON.stringify(name)}${rest}}`;
  }
}

/** What the schema cannot say of an int64: it is checked on the digits (`format: int64` checks no range in Ajv). */
function exactId(json: string): bigint | undefined {
  const source = numberSource(json, 'id');
  const id = source === undefined ? undefined : exactInteger(source);
  return id !== undefined && isPlantId(id) ? id : undefined;
}

function sentence({ instancePath, keyword, params, parentSchema, message }: ErrorObject): string {
  const field = instancePath.slice(1).replaceAll('/', '.');
  if (keyword === 'required') return `${params['missingProperty']} is required`;
  if (field === '') return keyword === 'type' ? 'The body must be a JSON object' : `The body ${message}`;
  if (parentSchema?.['format'] === 'int64') return PLANT_ID_MESSAGE;
  if (keyword === 'type') return `${field} must be a ${params['type']}`;
  return `${field} ${message}`;
}
