import { services } from 'plant-store';

export default (container) => {
  container.onActivation(services.Metrics, (_, metrics) => {
    metrics.gauge('garden_beds', 'Beds in the garden.', () => 3);
    return metrics;
  });
};
