import { services } from 'plant-store/composition';

const error = { error: 40301, message: 'Only gardeners create plants' };
const declining = { execute: async () => ({ kind: 'declined', error }) };

export default (container) => {
  container
    .rebind(services.HttpCreatePlant)
    .toResolvedValue(
      (createPlant) => (principal) => (principal.subject === 'static-token-1' ? createPlant : declining),
      [services.CreatePlant],
    );
};
