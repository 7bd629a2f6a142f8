import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { services } from 'plant-store';

export default (container) => {
  container
    .bind(services.OpenStorage)
    .toConstantValue(() => new MemoryPlantRepository())
    .whenNamed('garden');
};
