import { openApiDescription, PlantCodec } from '../../../../adapters/driving/api/index.js';
import {
  exportPlants,
  type ImportOptions,
  type ImportSummary,
  importPlants,
  type RejectedLine,
} from '../../../../adapters/driving/ndjson/index.js';
import { CreatePlant, type PlantRepository, ReadPlants } from '../../../../core/index.js';

export const codec: PlantCodec = new PlantCodec(openApiDescription);

/** The result of {@link importInto}. */
export interface ImportResult {
  readonly summary: ImportSummary;
  readonly rejects: readonly RejectedLine[];
}

/** Imports a text or its chunks into a repository. */
export async function importInto(
  repository: PlantRepository,
  input: string | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
  options: Partial<ImportOptions> = {},
): Promise<ImportResult> {
  async function* chunks() {
    yield* typeof input === 'string' ? [Buffer.from(input)] : input;
  }
  const rejects: RejectedLine[] = [];
  const summary = await importPlants(chunks(), {
    createPlants: new CreatePlant(repository),
    codec,
    maxLineBytes: 200_000,
    onReject: (line) => void rejects.push(line),
    ...options,
  });
  return { summary, rejects };
}

/** Exports a repository as NDJSON. */
export async function exportToText(repository: PlantRepository): Promise<string> {
  let text = '';
  for await (const chunk of exportPlants(new ReadPlants(repository), codec)) text += chunk;
  return text;
}
