import type { CreatePlantsUseCase, NewPlant } from '../../../core/index.js';
import { apiErrors, type DecodeResult, type PlantCodec, toApiError } from '../api/index.js';
import { splitLines } from './lines.js';

/** Dependencies, limit and callback of an import. */
interface ImportOptions {
  readonly createPlants: CreatePlantsUseCase;
  readonly codec: PlantCodec;
  /** Maximum length of a line. */
  readonly maxLineBytes: number;
  /** Called for each rejected line, in order, with its number, starting at 1, and its error. */
  readonly onReject: (rejected: { line: number; error: number; message: string }) => void | Promise<void>;
}

/**
 * Creates a plant from each line of NDJSON. Decodes a line like a request body; reports and skips rejected lines. An
 * interrupted import can be run again.
 * @returns Numbers of lines.
 * @throws {StorageUnavailable} The storage is unavailable. Plants created before the error remain stored.
 */
export async function importPlants(
  input: AsyncIterable<Uint8Array>,
  { createPlants, codec, maxLineBytes, onReject }: ImportOptions,
): Promise<{ created: number; alreadyStored: number; rejected: number }> {
  const summary = { created: 0, alreadyStored: 0, rejected: 0 };
  const tooLong = { ...apiErrors.bodyTooLarge, message: `The line is larger than ${maxLineBytes} bytes` };
  const decode = (line: Uint8Array | undefined): DecodeResult =>
    line ? codec.decodeNewPlant(line) : { kind: 'rejected', error: tooLong };
  let line = 0;

  const store = async (batch: readonly DecodeResult[]) => {
    const newPlants: NewPlant[] = [];
    for (const decoded of batch) if (decoded.kind === 'decoded') newPlants.push(decoded.newPlant);
    const outcomes = await createPlants.executeAll(newPlants);
    const errors = outcomes.map((outcome) => (outcome.kind === 'created' ? undefined : toApiError(outcome)));
    let next = 0;
    for (const decoded of batch) {
      line++;
      const apiError = decoded.kind === 'decoded' ? errors[next++] : decoded.error;
      if (apiError === undefined) summary.created++;
      else if (apiError === apiErrors.alreadyStored) summary.alreadyStored++;
      else {
        summary.rejected++;
        await onReject({ line, error: apiError.error, message: apiError.message });
      }
    }
  };

  // Stores one batch while the next is read and decoded. Never two at once, so that the first line with an id wins.
  let storing = Promise.resolve();
  for await (const lines of splitLines(input, maxLineBytes)) {
    const batch = lines.map(decode);
    await storing;
    storing = store(batch);
    // The next `await` throws the error.
    storing.catch(() => {});
  }
  await storing;
  return summary;
}
