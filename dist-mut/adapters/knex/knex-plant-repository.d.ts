import type { Knex } from 'knex';
import { type AddOutcome, Plant, type PlantRepository } from '../../core/index.js';
import type { Engine } from './engine.js';
/** Keeps plants in a table `plants` of an SQL database. */
export declare class KnexPlantRepository implements PlantRepository {
    #private;
    /**
     * @param knex belongs to the repository from now on: closing the one destroys the other
     * @param engine what is special about the database that `knex` leads to
     * @param timeoutMs how long a statement that finds others in its way is tried again, in milliseconds
     */
    constructor(knex: Knex, engine: Engine, timeoutMs: number);
    add(plants: readonly Plant[]): Promise<AddOutcome[]>;
    readAll(): AsyncGenerator<readonly Plant[]>;
    ready(): Promise<void>;
    close(): Promise<void>;
}
//# sourceMappingURL=knex-plant-repository.d.ts.map