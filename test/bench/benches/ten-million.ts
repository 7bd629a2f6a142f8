import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Bench } from '../harness/bench.js';
import { onSqlite } from '../harness/candidates.js';
import { closedLoopRound, inTurn } from '../harness/closed-loop-rounds.js';
import { plantStore, runTimed } from '../harness/commands.js';
import { type IdOrder, scattered } from '../harness/ids.js';
import { writePlants } from '../harness/plant-files.js';
import { ratios } from '../harness/statistics.js';
import { type Store, sqliteFile } from '../harness/stores.js';

/** An empty or prefilled store, and the order of the ids created in it. */
interface Prefill {
  readonly name: string;
  readonly plants: number;
  readonly ids: IdOrder;
}

const PASSES = 8;

export const tenMillion: Bench = {
  name: 'ten-million',
  about: 'the create rate of a store of ten million plants, compared with an empty one',
  async run(settings) {
    const folder = mkdtempSync(join(settings.folder, 'ten-million-'));
    const plants = settings.quick ? 200_000 : 10_000_000;
    const size = `${plants / 1e6} million`;
    const emptyAscending: Prefill = { name: 'empty, ascending ids', plants: 0, ids: 'ascending' };
    const fullAscending: Prefill = { name: `${size}, ascending ids`, plants, ids: 'ascending' };
    const emptyRandom: Prefill = { name: 'empty, random ids', plants: 0, ids: 'scattered' };
    const fullRandom: Prefill = { name: `${size}, random ids`, plants, ids: 'scattered' };
    const prefills = [emptyAscending, fullAscending, emptyRandom, fullRandom];

    for (const prefill of [fullAscending, fullRandom]) {
      settings.say(`prefill the store: ${prefill.name}`);
      await fill(prefill, folder);
    }
    const samplesOf = await inTurn(
      prefills,
      settings,
      (prefill) => {
        // The rounds share one file, because copying it would keep the disk busy during the measurement.
        const store = prefill.plants === 0 ? undefined : async () => reusableStore(fileOf(prefill, folder));
        return closedLoopRound(onSqlite, { connections: 64, ids: prefill.ids, ...(store ? { store } : {}) }, settings);
      },
      ({ rate, invalidReason }) => invalidReason ?? `${Math.round(rate)} requests/s`,
    );
    rmSync(folder, { recursive: true });

    const invalidReasonOf = (prefill: Prefill) =>
      samplesOf(prefill).find(({ invalidReason }) => invalidReason)?.invalidReason;
    const ratio = (work: string, of: Prefill, against: Prefill, atLeast: number) => ({
      work: `create rate with ${size} plants stored, ${work}: relative to an empty store`,
      samples: ratios(
        samplesOf(of).map(({ rate }) => rate),
        samplesOf(against).map(({ rate }) => rate),
      ),
      atLeast,
      invalidReason: invalidReasonOf(of) ?? invalidReasonOf(against),
    });
    return {
      title: 'A large store',
      how: `Plant Store on SQLite, closed loop of 64 connections, on a new file, and on one that \`plant-store import\` filled beforehand and that every round adds to. Ascending ids start at 1; random ids are spread over 2⁵² and imported in ${PASSES} ascending passes over that range, which is faster than random order and leaves the pages equally full. The file fits in memory.`,
      tables: [
        {
          head: 'store',
          columns: [
            { key: 'rate', title: 'requests/s', digits: 0 },
            { key: 'cpuUs', title: 'processor, µs/request', digits: 1 },
            { key: 'p99Ms', title: 'p99, ms', digits: 1 },
          ],
          rows: prefills.map((prefill) => ({
            name: prefill.name,
            cells: {
              rate: samplesOf(prefill).map(({ rate }) => rate),
              cpuUs: samplesOf(prefill).map(({ cpuUs }) => cpuUs),
              p99Ms: samplesOf(prefill).map(({ p99Ms }) => p99Ms),
            },
            invalidReason: invalidReasonOf(prefill),
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

function fileOf({ plants, ids }: Prefill, folder: string): string {
  return join(folder, `${ids}-${plants}.db`);
}

async function fill(prefill: Prefill, folder: string): Promise<void> {
  const ndjson = join(folder, 'plants.ndjson');
  await writePlants(
    ndjson,
    prefill.plants,
    'ndjson',
    prefill.ids === 'scattered' ? inPasses(prefill.plants) : undefined,
  );
  await runTimed(plantStore('import', ndjson), { environment: { DATABASE_URL: `sqlite:${fileOf(prefill, folder)}` } });
  rmSync(ndjson);
}

/**
 * Returns scattered ids in several ascending passes over the whole range. Inserts split pages as in random order and
 * leave them equally full, but the import is many times faster.
 */
function inPasses(count: number): (number: number) => number {
  const ids = Float64Array.from({ length: count }, (_, index) => scattered(index + 1));
  const passSize = Math.ceil(count / PASSES);
  for (let from = 0; from < count; from += passSize) ids.subarray(from, from + passSize).sort();
  return (number) => ids[number - 1] ?? Number.NaN;
}

/** Returns a store that is kept for the next round. */
function reusableStore(file: string): Store {
  return { ...sqliteFile(file), drop: async () => {} };
}
