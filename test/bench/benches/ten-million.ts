import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../harness/bench.js';
import { onSqlite } from '../harness/candidates.js';
import { closedLoopRound, inTurn } from '../harness/closed-loop-rounds.js';
import { plantStore, timed } from '../harness/commands.js';
import { type IdOrder, scattered } from '../harness/ids.js';
import { writePlants } from '../harness/plant-files.js';
import { ratios } from '../harness/statistics.js';
import { type Store, sqliteFile } from '../harness/stores.js';

/** A store that is filled before, and the ids that are then created in it. */
interface Filling {
  readonly name: string;
  readonly plants: number;
  readonly ids: IdOrder;
}

const PASSES = 8;

export const tenMillion: Bench = {
  name: 'ten-million',
  about: 'the create rate of a store that holds ten million plants, against an empty one',
  async run(settings) {
    const folder = mkdtempSync(join(settings.folder, 'ten-million-'));
    const plants = settings.quick ? 200_000 : 10_000_000;
    const held = `${plants / 1e6} million`;
    const emptyAscending: Filling = { name: 'empty, ascending ids', plants: 0, ids: 'ascending' };
    const fullAscending: Filling = { name: `${held}, ascending ids`, plants, ids: 'ascending' };
    const emptyRandom: Filling = { name: 'empty, random ids', plants: 0, ids: 'scattered' };
    const fullRandom: Filling = { name: `${held}, random ids`, plants, ids: 'scattered' };
    const fillings = [emptyAscending, fullAscending, emptyRandom, fullRandom];

    for (const filling of [fullAscending, fullRandom]) {
      settings.say(`filling the store: ${filling.name}`);
      await fill(filling, folder);
    }
    const samplesOf = await inTurn(
      fillings,
      settings,
      (filling) => {
        // A copy for each round would keep the disk busy while it is measured.
        const store = filling.plants === 0 ? undefined : async () => kept(fileOf(filling, folder));
        return closedLoopRound(onSqlite, { connections: 64, ids: filling.ids, ...(store ? { store } : {}) }, settings);
      },
      ({ rate, refused }) => refused ?? `${Math.round(rate)} answers/s`,
    );
    rmSync(folder, { recursive: true });

    const refusedOf = (filling: Filling) => samplesOf(filling).find(({ refused }) => refused)?.refused;
    const ratio = (work: string, of: Filling, against: Filling, atLeast: number) => ({
      work: `the store at ${held} plants: create rate against the empty one, ${work}`,
      samples: ratios(
        samplesOf(of).map(({ rate }) => rate),
        samplesOf(against).map(({ rate }) => rate),
      ),
      atLeast,
      refused: refusedOf(of) ?? refusedOf(against),
    });
    return {
      title: 'A large store',
      how: `Plant Store on SQLite, closed loop of 64 connections, on a new file and on one that \`plant-store import\` filled, to which the rounds add: for ascending ids with the ids from 1 on, for random ids with ids all over 2⁵², in ${PASSES} passes. The file fits the memory of the machine.`,
      tables: [
        {
          head: 'store',
          columns: [
            { key: 'rate', title: 'answers/s', digits: 0 },
            { key: 'cpuUs', title: 'processor, µs/answer', digits: 1 },
            { key: 'p99Ms', title: '99 of 100, ms', digits: 1 },
          ],
          rows: fillings.map((filling) => ({
            name: filling.name,
            cells: {
              rate: samplesOf(filling).map(({ rate }) => rate),
              cpuUs: samplesOf(filling).map(({ cpuUs }) => cpuUs),
              p99Ms: samplesOf(filling).map(({ p99Ms }) => p99Ms),
            },
            refused: refusedOf(filling),
          })),
        },
      ],
      ratios: [
        ratio('ascending ids', fullAscending, emptyAscending, 0.9),
        ratio('random ids', fullRandom, emptyRandom, 0.6),
      ],
    };
  },
};

function fileOf({ plants, ids }: Filling, folder: string): string {
  return join(folder, `${ids}-${plants}.db`);
}

async function fill(filling: Filling, folder: string): Promise<void> {
  const ndjson = join(folder, 'plants.ndjson');
  await writePlants(
    ndjson,
    filling.plants,
    'ndjson',
    filling.ids === 'scattered' ? inPasses(filling.plants) : undefined,
  );
  await timed(plantStore('import', ndjson), { environment: { DATABASE_URL: `sqlite:${fileOf(filling, folder)}` } });
  rmSync(ndjson);
}

/**
 * Scattered ids in passes over the whole range, each ascending. Plants that come between others split their pages as they
 * do in random order, and the pages end up as full; but filling is many times faster.
 */
function inPasses(count: number): (number: number) => number {
  const ids = Float64Array.from({ length: count }, (_, index) => scattered(index + 1));
  const passSize = Math.ceil(count / PASSES);
  for (let from = 0; from < count; from += passSize) ids.subarray(from, from + passSize).sort();
  return (number) => ids[number - 1] ?? Number.NaN;
}

/** A file that stays for the next round. */
function kept(file: string): Store {
  return { ...sqliteFile(file), drop: async () => {} };
}
