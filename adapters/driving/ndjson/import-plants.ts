import type { CreatePlantsUseCase } from '../../../core/index.js';
import { type ApiError, apiErrors, type DecodeResult, type PlantCodec, toApiError } from '../api/index.js';
import { type Line, splitLines } from './lines.js';

/** Maximum number of lines per batch. */
const MAX_BATCH_ROWS = 4000;
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
  /** Called after each batch. */
  readonly onProgress?: (summary: ImportSummary) => void;
  /** Ends the import after the batch in flight. */
  readonly signal?: AbortSignal;
}

/** The number and the error of a rejected line. */
export interface RejectedLine extends ApiError {
  /** Line number, starting at 1. */
  readonly line: number;
}

/** Counts of an import so far. */
export interface ImportSummary {
  created: number;
  /** Identical plants that were already stored. */
  alreadyStored: number;
  rejected: number;
  /** Bytes read. */
  bytes: number;
}

/**
 * Creates a plant from each line of NDJSON. Decodes a line like a request body; reports and skips rejected lines. An
 * interrupted import can be run again.
 * @throws {StorageUnavailable} The storage is unavailable. Plants created before the error remain stored.
 */
export async function importPlants(
  input: AsyncIterable<Uint8Array>,
  { createPlants, codec, maxLineBytes, onReject, onProgress, signal }: ImportOptions,
): Promise<ImportSummary> {
  const summary: ImportSummary = { created: 0, alreadyStored: 0, rejected: 0, bytes: 0 };

  const store = async (batch: readonly DecodedLine[]) => {
    const newPlants = batch.flatMap(({ decoded }) => (decoded.kind === 'decoded' ? [decoded.newPlant] : []));
    const errors = (await createPlants.executeAll(newPlants)).map(toApiError).values();
    for (const { line, decoded } of batch) {
      const error = decoded.kind === 'decoded' ? errors.next().value : decoded.error;
      if (error === undefined) summary.created++;
      else if (error.error === apiErrors.alreadyStored.error) summary.alreadyStored++;
      else {
        summary.rejected++;
        await onReject({ line, ...error });
      }
    }
    onProgress?.(summary);
  };

  // Stores one batch while reading the next. Never stores two at once, so that the first line with an id wins.
  let storing = Promise.resolve();
  try {
    const lines = splitLines(countBytes(input, summary), maxLineBytes);
    for await (const batch of decodeBatches(lines, codec, maxLineBytes)) {
      await storing;
      if (signal?.aborted) break;
      storing = store(batch);
      storing.catch(() => {});
    }
  } catch (error) {
    if (!signal?.aborted) throw error;
  } finally {
    await storing;
  }
  return summary;
}

interface DecodedLine {
  readonly line: number;
  readonly decoded: DecodeResult;
}

async function* countBytes(input: AsyncIterable<Uint8Array>, summary: ImportSummary): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    summary.bytes += chunk.length;
    yield chunk;
  }
}

async function* decodeBatches(
  chunks: AsyncIterable<readonly Line[]>,
  codec: PlantCodec,
  maxLineBytes: number,
): AsyncGenerator<readonly DecodedLine[]> {
  const message = `The line is larger than ${maxLineBytes} bytes`;
  const tooLong: DecodeResult = { kind: 'rejected', error: { ...apiErrors.bodyTooLarge, message } };
  let batch: DecodedLine[] = [];
  let bytesInBatch = 0;
  for await (const lines of chunks) {
    for (const { number: line, bytes } of lines) {
      batch.push({ line, decoded: bytes === undefined ? tooLong : codec.decode(bytes) });
      bytesInBatch += bytes?.length ?? 0;
      if (batch.length >= MAX_BATCH_ROWS || bytesInBatch >= MAX_BATCH_BYTES) {
        yield batch;
        batch = [];
        bytesInBatch = 0;
      }
    }
  }
  if (batch.length > 0) yield batch;
}
