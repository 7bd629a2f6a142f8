import { access } from 'node:fs/promises';
import { services } from 'plant-store';

export default (container) => {
  container.bind(services.ReadinessCheck).toConstantValue({ name: 'pump', check: () => access('pump.pid') });
};
