import {
  exportPlants,
  type ImportOptions,
  type ImportSummary,
  importPlants,
  type Reject,
} from '../../../adapters/ndjson/index.js';
import { loadDescription, PlantCodec } from '../../../adapters/wire/index.js';
import { CreatePlant, type PlantRepository, ReadPlants } from '../../../core/index.js';

export const codec: PlantCodec = new PlantCodec(loadDescription());

/** What an import did. */
export interface Imported {
  readonly summary: ImportSummary;
  readonly rejects: readonly Reject[];
}

/** Imports a text, or chunks of one, into a repository. */
export async function importInto(
  plants: PlantRepository,
  input: string | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: Partial<ImportOptions> = {},
): Promise<Imported> {
  async function* chunks() {
    yield* typeof input === 'string' ? [Buffer.from(input)] : input;
  }
  const rejects: Reject[] = [];
  const summary = await importPlants(chunks(), {
    createPlant: new CreatePlant(plants),
    codec,
    lineBytesMax: 1024,
    onReject: (reject) => void rejects.push(reject),
    ...options,
  });
  return { summary, rejects };
}

/** Everything that a repository holds, as NDJSON. */
export async function exported(plants: PlantRepository): Promise<string> {
  let text = '';
  for await (const piece of exportPlants(new ReadPlants(plants), codec)) text += piece;
  return text;
}

/** The lines of `count` plants, from the id `first` on. */
export function plantLines(first: number, count: number): string {
  return Array.from({ length: count }, (_, index) => `{"id":${first + index},"name":"plant ${first + index}"}\n`).join(
    '',
  );
}
