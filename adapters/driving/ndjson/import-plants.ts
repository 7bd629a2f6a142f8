import type { CreatePlantsUseCase } from '../../../core/index.js';
import { type ApiError, apiErrors, type DecodeResult, type PlantCodec, toApiError } from '../api/index.js';
import { splitLines } from './lines.js';

/** Maximum number of lines per batch. */
const MAX_BATCH_LINES = 4000;
/** Maximum bytes of lines per batch. The last line may exceed it. */
const MAX_BATCH_BYTES = 1024 * 1024;

/** Dependencies, limits and callbacks of an import. */
export interface ImportOptions {
  readonly createPlants: CreatePlantsUseCase;
  readonly codec: PlantCodec;
  /** Maximum length of a line. */
  readonly maxLineBytes: number;
  /** Called for each rejected line, in order. */
  readonly onReject: (line: RejectedLine) => void | Promise<void>;
}

/** The number, starting at 1, and the error of a rejected line. */
export type RejectedLine = { readonly line: number } & ApiError;

/** Counts of lines. */
export interface ImportSummary {
  created: number;
  /** Identical plants that were already stored. */
  alreadyStored: number;
  rejected: number;
}

/**
 * Creates a plant from each line of NDJSON. Decodes a line like a request body; reports and skips rejected lines. An
 * interrupted import can be run again.
 * @throws {StorageUnavailable} The storage is unavailable. Plants created before the error remain stored.
 */
export async function importPlants(
  input: AsyncIterable<Uint8Array>,
  { createPlants, codec, maxLineBytes, onReject }: ImportOptions,
): Promise<ImportSummary> {
  const summary: ImportSummary = { created: 0, alreadyStored: 0, rejected: 0 };
  const tooLong = { ...apiErrors.bodyTooLarge, message: `The line is larger than ${maxLineBytes} bytes` };
  let lines = 0;
  let bytes = 0;
  let batch: DecodeResult[] = [];

  const store = async () => {
    const newPlants = batch.flatMap((decoded) => (decoded.kind === 'decoded' ? [decoded.newPlant] : []));
    const errors = (await createPlants.executeAll(newPlants)).map(toApiError).values();
    for (const decoded of batch) {
      lines++;
      const error = decoded.kind === 'decoded' ? errors.next().value : decoded.error;
      if (error === undefined) summary.created++;
      else if (error.error === apiErrors.alreadyStored.error) summary.alreadyStored++;
      else {
        summary.rejected++;
        await onReject({ line: lines, ...error });
      }
    }
    batch = [];
    bytes = 0;
  };

  for await (const chunk of splitLines(input, maxLineBytes)) {
    for (const line of chunk) {
      batch.push(line === undefined ? { kind: 'rejected', error: tooLong } : codec.decode(line));
      bytes += line?.length ?? 0;
      if (batch.length >= MAX_BATCH_LINES || bytes >= MAX_BATCH_BYTES) await store();
    }
  }
  await store();
  return summary;
}
