export {
  MonitoredPlantRepository,
  type MonitoringOptions,
  type StorageLifecycle,
  StorageTimeout,
  withTimeout,
} from './monitored-plant-repository.js';
