import type { NewPlant, Plant, Violation } from '../../plant.js';
import type { Principal } from '../driven/token-verifier.js';

/** Driving port: creates one plant. A decorator may decline it, for example for lack of a permission. */
export interface CreatePlantUseCase<Declined = never> {
  /**
   * Creates a plant under the id that the client chose. Resolves once the plant is durable.
   * @param principal The authenticated client, for decorators. The core does not use it.
   * @throws {StorageUnavailable} The plant may have been stored; retry to find out.
   */
  execute(newPlant: NewPlant, principal?: Principal): Promise<CreatePlantOutcome | Declined>;
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
