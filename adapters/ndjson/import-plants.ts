import type { CreatePlant, NewPlant } from '../../core/index.js';
import { type PlantCodec, type Rejection, rejectionOf, rejections } from '../wire/index.js';
import { type Line, linesOf } from './lines.js';

/** How many plants go into the storage together. */
const BATCH_ROWS_MAX = 4000;
/** How many bytes of lines go into the storage together; a single line may exceed it. */
const BATCH_BYTES_MAX = 1024 * 1024;

/** What an import is made of. */
export interface ImportOptions {
  readonly createPlant: CreatePlant;
  readonly codec: PlantCodec;
  /** The longest line, in bytes. */
  readonly lineBytesMax: number;
  /** Told of each line that is refused. */
  readonly onReject: (reject: Reject) => void | Promise<void>;
  /** Told after each batch. */
  readonly onProgress?: (summary: ImportSummary) => void;
  /** Ends the import after the batch that is under way. */
  readonly signal?: AbortSignal;
}

/** A line that was refused, and why. */
export interface Reject extends Rejection {
  readonly line: number;
}

/** How many lines there were of each kind so far. */
export interface ImportSummary {
  /** Plants that are stored now and were not before. */
  created: number;
  /** Plants that were stored already, identically. */
  alreadyStored: number;
  refused: number;
  /** The bytes that were read. */
  bytes: number;
}

/**
 * Reads NDJSON of NewPlant objects and creates them. A line is read as the body of a request is; a refused one is
 * reported and skipped. An import that was interrupted is simply run again.
 *
 * @throws {StorageUnavailable} when the storage goes away; what was created before stays
 */
export async function importPlants(
  input: AsyncIterable<Uint8Array>,
  { createPlant, codec, lineBytesMax, onReject, onProgress, signal }: ImportOptions,
): Promise<ImportSummary> {
  const summary: ImportSummary = { created: 0, alreadyStored: 0, refused: 0, bytes: 0 };

  const store = async (batch: readonly Read[]) => {
    const outcomes = (await createPlant.executeAll(batch.flatMap(({ plant }) => plant ?? []))).values();
    for (const { line, plant, rejection } of batch) {
      const outcome = plant && outcomes.next().value;
      const reason = outcome ? rejectionOf(outcome) : rejection;
      if (reason === undefined) summary.created++;
      else if (reason.error === rejections.alreadyStored.error) summary.alreadyStored++;
      else {
        summary.refused++;
        await onReject({ line, ...reason });
      }
    }
    onProgress?.(summary);
  };

  // One batch is stored while the next one is read; no more, so that of two lines with one id the first one counts.
  let storing = Promise.resolve();
  try {
    for await (const batch of batches(linesOf(counted(input, summary), lineBytesMax), codec, lineBytesMax)) {
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

/** A line as it was read: a plant, or why it is none. */
interface Read {
  readonly line: number;
  readonly plant?: NewPlant;
  readonly rejection?: Rejection;
}

async function* counted(input: AsyncIterable<Uint8Array>, summary: ImportSummary): AsyncGenerator<Uint8Array> {
  for await (const chunk of input) {
    summary.bytes += chunk.length;
    yield chunk;
  }
}

async function* batches(
  chunks: AsyncIterable<readonly Line[]>,
  codec: PlantCodec,
  lineBytesMax: number,
): AsyncGenerator<readonly Read[]> {
  const tooLong = { ...rejections.bodyTooLarge, message: `The line is larger than ${lineBytesMax} bytes` };
  let batch: Read[] = [];
  let bytesInBatch = 0;
  for await (const lines of chunks) {
    for (const { number: line, bytes } of lines) {
      const decoded = bytes === undefined ? tooLong : codec.decode(bytes);
      batch.push('error' in decoded ? { line, rejection: decoded } : { line, plant: decoded });
      bytesInBatch += bytes?.length ?? 0;
      if (batch.length >= BATCH_ROWS_MAX || bytesInBatch >= BATCH_BYTES_MAX) {
        yield batch;
        batch = [];
        bytesInBatch = 0;
      }
    }
  }
  if (batch.length > 0) yield batch;
}
