import type { Plant } from './plant.js';

export type CreatePlantOutcome = 'created' | 'already-stored' | 'id-conflict' | 'invalid-id' | 'invalid-text';

/** The driving port: what HTTP, a queue or a command line calls. */
export interface CreatePlantUseCase {
  execute(plant: Plant): Promise<CreatePlantOutcome>;
}

export type AddOutcome = { readonly kind: 'added' } | { readonly kind: 'conflict'; readonly stored: Plant };

/** The driven port: what a database implements. */
export interface PlantRepository {
  /** Resolves once the plant is durable, or to the stored plant that has its id. */
  add(plant: Plant): Promise<AddOutcome>;
}
