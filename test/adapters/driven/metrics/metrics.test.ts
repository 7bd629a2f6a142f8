import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { Metrics } from '../../../../adapters/driven/metrics/index.js';
import { catchError } from '../../../support/catch-error.js';
import { toPlant } from '../../../support/plants.js';

describe('Metrics', () => {
  const plants = [1n, 2n, 1n].map((id) => toPlant({ id, name: 'Monstera' }));

  it('count plants by outcome, batches, and failed calls of a storage', async () => {
    const metrics = new Metrics('1.0.0');
    const storage = new MemoryPlantRepository();
    const repository = metrics.measure(storage);
    await repository.add(plants);
    await storage.close();
    await catchError(repository.add(plants));
    expect((await metrics.text()).split('\n')).to.include.members([
      'plant_store_plants_total{outcome="added"} 2',
      'plant_store_plants_total{outcome="taken"} 1',
      'plant_store_storage_batch_plants_sum 3',
      'plant_store_storage_operation_duration_seconds_count 2',
      'plant_store_storage_errors_total{code="STORAGE_UNAVAILABLE"} 1',
    ]);
  });

  it('count requests without a label that a client chooses', async () => {
    const metrics = new Metrics('1.0.0');
    const onEnd = metrics.requests();
    onEnd({ method: 'POST', route: '/plants', status: 409, error: 40901, durationMs: 1 });
    onEnd({ method: 'CANARY' });
    expect((await metrics.text()).split('\n')).to.include.members([
      'plant_store_http_requests_total{method="POST",route="/plants",status="409",error="40901"} 1',
      'plant_store_http_requests_total{method="other",route="none",status="aborted",error="none"} 1',
      'plant_store_http_request_duration_seconds_count{route="/plants"} 1',
    ]);
  });
});
