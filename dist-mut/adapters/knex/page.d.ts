import type { Knex } from 'knex';
import type { Engine, PlantRow } from './engine.js';
/** SQL for the id of the last plant of the page that begins with the id bound to its `?`. */
export declare function lastOfPage({ textToId }: Pick<Engine, 'textToId'>): string;
/** A page as rows, as any engine has them. */
export declare function pageOfRows(knex: Knex, engine: Engine, from: bigint): Promise<readonly PlantRow[]>;
//# sourceMappingURL=page.d.ts.map