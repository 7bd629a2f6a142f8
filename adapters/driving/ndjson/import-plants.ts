import type { CreatePlantsUseCase, NewPlant } from '@plant-store/core';
import { apiErrors, type Declined, type DecodeResult, type JsonPlantCodec, toApiError } from '../api/index.js';
import { splitLines } from './lines.js';

/** An exported id may be longer than in the body that created its plant: `1e18` has 4 characters, and 19 digits. */
const MAX_ADDED_DIGITS = 15;

/** Dependencies, limit and callback of an import. */
export interface ImportOptions {
  /** The use case of the core, or a decorator of it that declines some plants. */
  readonly createPlants: CreatePlantsUseCase<Declined>;
  readonly codec: JsonPlantCodec;
  /** Maximum size of the bodies that created the plants. A line may be 15 bytes longer. */
  readonly bodyLimitBytes: number;
  /** Called for each rejected line, in order, with its number, starting at 1, and its error. */
  readonly onReject: (rejected: { line: number; error: number; message: string }) => void | Promise<void>;
}

/** The result of {@link importPlants}. */
export type ImportResult =
  /** Numbers of lines. Blank lines do not count. */
  | { readonly kind: 'imported'; readonly created: number; readonly alreadyStored: number; readonly rejected: number }
  /** The input has another format, so nothing was imported. `hint` is a clause for a person. */
  | { readonly kind: 'not-ndjson'; readonly hint: string };

/**
 * Creates a plant from each line of NDJSON. Decodes a line like a request body; reports and skips rejected lines. An
 * interrupted import can be run again.
 * @throws {StorageUnavailable} The storage is unavailable. Plants created before the error remain stored.
 */
export async function importPlants(
  input: AsyncIterable<Uint8Array>,
  { createPlants, codec, bodyLimitBytes, onReject }: ImportOptions,
): Promise<ImportResult> {
  const summary = { created: 0, alreadyStored: 0, rejected: 0 };
  const tooLong = { ...apiErrors.bodyTooLarge, message: `The line is larger than ${bodyLimitBytes} bytes` };
  const decode = (line: Uint8Array | undefined): DecodeResult | undefined => {
    if (line === undefined) return { kind: 'rejected', error: tooLong };
    const decoded = codec.decodeNewPlant(line);
    // Blank lines are rare, so only rejected lines are looked at.
    return decoded.kind === 'rejected' && isBlank(line) ? undefined : decoded;
  };
  let line = 0;

  const store = async (batch: readonly (DecodeResult | undefined)[]) => {
    const newPlants: NewPlant[] = [];
    for (const decoded of batch) if (decoded?.kind === 'decoded') newPlants.push(decoded.newPlant);
    const outcomes = await createPlants.execute(newPlants);
    if (outcomes.length !== newPlants.length) throw new TypeError('CreatePlants must return one outcome per plant');
    const errors = outcomes.map((outcome) => (outcome.kind === 'created' ? undefined : toApiError(outcome)));
    let next = 0;
    for (const decoded of batch) {
      line++;
      if (decoded === undefined) continue;
      const apiError = decoded.kind === 'decoded' ? errors[next++] : decoded.error;
      if (apiError === undefined) summary.created++;
      else if (apiError === apiErrors.alreadyStored) summary.alreadyStored++;
      else {
        summary.rejected++;
        await onReject({ line, error: apiError.error, message: apiError.message });
      }
    }
  };

  let hint: string | undefined;
  const chunks = async function* () {
    let isStart = true;
    for await (const chunk of input) {
      if (isStart) hint = findOtherFormat(chunk);
      if (hint !== undefined) return;
      isStart &&= isBlank(chunk);
      yield chunk;
    }
  };

  // Stores one batch while the next is read and decoded. Never two at once, so that the first line with an id wins.
  let storing = Promise.resolve();
  for await (const lines of splitLines(chunks(), bodyLimitBytes + MAX_ADDED_DIGITS)) {
    const batch = lines.map(decode);
    await storing;
    storing = store(batch);
    // The next `await` throws the error.
    storing.catch(() => {});
  }
  await storing;
  return hint === undefined ? { kind: 'imported', ...summary } : { kind: 'not-ndjson', hint };
}

function isBlank(bytes: Uint8Array): boolean {
  return new TextDecoder().decode(bytes).trim() === '';
}

/** Returns a hint if the first bytes of an input are not those of NDJSON. */
function findOtherFormat(start: Uint8Array): string | undefined {
  const text = Buffer.from(start).toString('latin1');
  // An ASCII control character, or a byte that UTF-8 does not use: gzip, zip, zstd, xz, 7z and UTF-16 start with them.
  if (/[^\P{Cc}\s\x80-\x9f]|[\xf5-\xff]/u.test(text.slice(0, 8)))
    return 'the input is compressed or UTF-16; decompress it, or convert it to UTF-8';
  if (/^(\xef\xbb\xbf)?\s*\[/.test(text)) return 'the input is a JSON array; write one object per line, without commas';
  return undefined;
}
