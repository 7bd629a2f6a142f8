import { services } from 'plant-store';
import { Gauge } from 'prom-client';

export default (container) => {
  container.onActivation(services.Metrics, (_, registry) => {
    const beds = new Gauge({ name: 'garden_beds', help: 'Beds in the garden.', registers: [registry] });
    beds.set(3);
    return registry;
  });
};
