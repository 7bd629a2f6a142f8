import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openRepository, sqliteDatabase } from '../../../adapters/knex/index.js';
import { Plant } from '../../../core/index.js';
import { median } from './statistics.js';

/** How long `add` of batches of each size takes on SQLite, one after another: the median of `times`, in milliseconds. */
export async function batchTimesMs(
  folder: string,
  sizes: readonly number[],
  times: number,
): Promise<(readonly [rows: number, ms: number])[]> {
  const own = mkdtempSync(join(folder, 'batches-'));
  const repository = await openRepository(sqliteDatabase({ path: join(own, 'plants.db'), timeoutMs: 10_000 }));
  let id = 0n;
  const points: (readonly [number, number])[] = [];
  for (const size of sizes) {
    const samples: number[] = [];
    for (let time = 0; time < times; time++) {
      const batch = Array.from({ length: size }, () => {
        const plant = Plant.from({ id: ++id, name: `Monstera ${id}`, tag: 'indoor' });
        if (!(plant instanceof Plant)) throw new TypeError('no plant');
        return plant;
      });
      const beganMs = performance.now();
      await repository.add(batch);
      samples.push(performance.now() - beganMs);
    }
    points.push([size, median(samples)]);
  }
  await repository.close();
  rmSync(own, { recursive: true });
  return points;
}

/** How long a sync of 4 KiB at the end of a file takes by itself: the median of `times`, in milliseconds. */
export function syncTimeMs(folder: string, times: number): number {
  const path = join(folder, 'sync');
  const file = openSync(path, 'w');
  const page = Buffer.alloc(4096, 1);
  const samples = Array.from({ length: times }, () => {
    writeSync(file, page);
    const beganMs = performance.now();
    fdatasyncSync(file);
    return performance.now() - beganMs;
  });
  closeSync(file);
  rmSync(path);
  return median(samples);
}
