import { type NewPlant, Plant } from '../../core/index.js';

/** A plant as a test sends it and expects it in the store. */
export type TestPlant = NewPlant;

/** Creates a plant; throws if it is invalid. */
export function toPlant(newPlant: TestPlant): Plant {
  const result = Plant.from(newPlant);
  if (result.kind === 'valid') return result.plant;
  throw new TypeError(result.violations.map(({ message }) => message).join('; '));
}

/** A row of the table, with its id as decimal text. */
export interface Row {
  readonly id: string;
  readonly name: string;
  readonly tag: string | null;
}

/** Converts a row to the plant that a client sent. */
export function fromRow({ id, name, tag }: Row): TestPlant {
  return { id: BigInt(id), name, ...(tag === null ? {} : { tag }) };
}

/** Returns NDJSON lines for `count` plants with ascending ids from `first`. */
export function plantLines(first: number, count: number, name = 'plant'): string {
  return Array.from({ length: count }, (_, at) => `{"id":${first + at},"name":"${name} ${first + at}"}\n`).join('');
}
