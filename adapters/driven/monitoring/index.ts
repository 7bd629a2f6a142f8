export {
  MonitoredPlantRepository,
  type MonitoringOptions,
  type StorageLifecycle,
  type StorageStatistics,
  StorageTimeout,
  withTimeout,
} from './monitored-plant-repository.js';
