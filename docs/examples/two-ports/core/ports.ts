import type { Plant } from './plant.js';

export type CreateOutcome = 'created' | 'already-stored' | 'id-conflict' | 'invalid-id' | 'invalid-text';

/** The driving port: what HTTP, a queue or a command line calls. */
export interface CreatePlant {
  execute(plant: Plant): Promise<CreateOutcome>;
}

/** The driven port: what a database implements. */
export interface PlantRepository {
  /** Resolves once the plant is durable, or to the plant that holds its id. */
  add(plant: Plant): Promise<'added' | Plant>;
}
