import { type NewPlant, Plant } from '@plant-store/core';

/** A plant as a test sends it and expects it in the store. */
export type TestPlant = Omit<NewPlant, 'id'> & { readonly id: bigint };

/** Creates a plant; throws if it is invalid. The one place that converts the ids of tests. */
export function toPlant(plant: TestPlant | NewPlant): Plant {
  const result = Plant.from(plant);
  if (result.kind === 'valid') return result.plant;
  throw new TypeError(result.violations.map(({ field, rule }) => `${field}: ${rule}`).join());
}

/** Converts a row to the plant that a client sent, without a tag that is null. */
export function fromRow({ id, name, tag }: Readonly<Record<string, unknown>>): TestPlant {
  return { id: BigInt(`${id}`), name: `${name}`, ...(tag !== null && { tag: `${tag}` }) };
}

/** Returns NDJSON lines for `count` plants with ascending ids from `first`. */
export function plantLines(first: number, count: number, name = 'plant'): string {
  return Array.from({ length: count }, (_, at) => `{"id":${first + at},"name":"${name} ${first + at}"}\n`).join('');
}
