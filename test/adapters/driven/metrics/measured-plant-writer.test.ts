import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { MeasuredPlantWriter } from '@plant-store/adapters/metrics';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Registry } from 'prom-client';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';

describe('MeasuredPlantWriter', () => {
  it('counts plants by outcome, batches, and failed calls', async () => {
    const registry = new Registry();
    const storage = new MemoryPlantRepository();
    const writer = new MeasuredPlantWriter(storage, registry);
    const plants = [1n, 2n, 1n].map((id) => toPlant({ id, name: 'Monstera' }));
    await writer.add(plants);
    const full = new StorageUnavailable('full', { cause: { code: 'SQLITE_FULL' } });
    for (const failure of [new StorageUnavailable('closed'), full, new TypeError()]) {
      storage.add = () => Promise.reject(failure);
      expect(await catchError(writer.add(plants))).to.equal(failure);
    }
    expect((await registry.metrics()).split('\n')).to.include.members([
      'plant_store_plants_total{outcome="added"} 2',
      'plant_store_plants_total{outcome="conflict"} 1',
      'plant_store_storage_batch_plants_sum 3',
      'plant_store_storage_operation_duration_seconds_count 4',
      'plant_store_storage_errors_total{code="STORAGE_UNAVAILABLE"} 1',
      'plant_store_storage_errors_total{code="SQLITE_FULL"} 1',
      'plant_store_storage_errors_total{code="DEFECT"} 1',
    ]);
  });
});
