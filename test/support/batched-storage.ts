import { BatchingPlantRepository, type BatchLimits } from '../../adapters/driven/batching/index.js';
import type { StorageLifecycle } from '../../adapters/driven/monitoring/index.js';
import type { PlantRepository } from '../../core/index.js';

type Storage = PlantRepository & StorageLifecycle;

/** Returns a storage with group commit. Its `close` waits for pending calls, as the service does. */
export function batchedStorage(storage: Storage, limits?: BatchLimits): Storage {
  const repository = new BatchingPlantRepository(storage, limits);
  const close = async () => {
    // The last call of the queue; it fails if the storage is closed already.
    await repository.add([]).catch(() => {});
    await storage.close();
  };
  return Object.assign(repository, { ready: () => storage.ready(), close });
}
