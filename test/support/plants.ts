import { type NewPlant, Plant } from '../../core/index.js';
import { OPTIONAL_TEXTS, type RawTexts, toNewPlant } from '../contract/sample-plants.js';

/** A plant as a test sends it and expects it in the store. */
export interface TestPlant extends Omit<NewPlant, 'id'> {
  readonly id: bigint;
}

/** Creates a plant; throws if it is invalid. The one place that converts the ids of tests. */
export function toPlant({ id, ...texts }: TestPlant | NewPlant): Plant {
  const result = Plant.from(toNewPlant(id, texts));
  if (result.kind === 'valid') return result.plant;
  throw new TypeError(result.violations.map(({ message }) => message).join('; '));
}

/** Converts a row to the plant that a client sent, without the texts that are null. */
export function fromRow({ id, ...row }: RawTexts & { readonly id: string }): TestPlant {
  const plant = { ...toNewPlant(BigInt(id), row), id: BigInt(id) };
  for (const field of OPTIONAL_TEXTS) if (plant[field] === undefined) Reflect.deleteProperty(plant, field);
  return plant;
}

/** Returns NDJSON lines for `count` plants with ascending ids from `first`. */
export function plantLines(first: number, count: number, name = 'plant'): string {
  return Array.from({ length: count }, (_, at) => `{"id":${first + at},"name":"${name} ${first + at}"}\n`).join('');
}
