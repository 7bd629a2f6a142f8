import { closeSync, fdatasyncSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { openRepository, sqliteDatabase } from '../../../adapters/knex/index.js';
import { toPlant } from '../../support/plants.js';
import { median } from './statistics.js';

/** Measures `add` on SQLite for each batch size; returns the median of `times` samples, in milliseconds. */
export async function batchTimesMs(
  folder: string,
  sizes: readonly number[],
  times: number,
): Promise<(readonly [rows: number, ms: number])[]> {
  const storeFolder = mkdtempSync(join(folder, 'batches-'));
  const repository = await openRepository(sqliteDatabase({ path: join(storeFolder, 'plants.db'), timeoutMs: 10_000 }));
  let id = 0n;
  const points: (readonly [number, number])[] = [];
  for (const size of sizes) {
    const samples: number[] = [];
    for (let time = 0; time < times; time++) {
      const batch = Array.from({ length: size }, () => {
        id++;
        return toPlant({ id, name: `Monstera ${id}`, tag: 'indoor' });
      });
      const beganMs = performance.now();
      await repository.add(batch);
      samples.push(performance.now() - beganMs);
    }
    points.push([size, median(samples)]);
  }
  await repository.close();
  rmSync(storeFolder, { recursive: true });
  return points;
}

/** Measures an append and sync of 4 KiB; returns the median of `times` samples, in milliseconds. */
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
