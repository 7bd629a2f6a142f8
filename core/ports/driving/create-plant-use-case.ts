import type { NewPlant, Plant, Violation } from '../../plant.js';

/** Driving port: creates one plant. */
export interface CreatePlantUseCase {
  /**
   * Creates a plant under the id that the client chose. Resolves once the plant is durable.
   * @throws {StorageUnavailable} The plant may have been stored; retry to find out.
   */
  execute(newPlant: NewPlant): Promise<CreatePlantOutcome>;
}

/** The result of creating one plant. */
export type CreatePlantOutcome =
  | { readonly kind: 'created'; readonly plant: Plant }
  /** An identical plant is already stored, for example by an earlier attempt. */
  | { readonly kind: 'already-stored'; readonly plant: Plant }
  /** The id belongs to a different plant. */
  | { readonly kind: 'id-conflict' }
  | { readonly kind: 'invalid'; readonly violations: readonly Violation[] }
  /** The storage rejects this plant and would reject it again. `error` is for the log. */
  | { readonly kind: 'rejected'; readonly error: Error };
