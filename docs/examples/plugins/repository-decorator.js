import { services } from 'plant-store/composition';
import { PlantRepositoryDecorator } from 'plant-store/core';

class Audit extends PlantRepositoryDecorator {
  async add(plants) {
    const outcomes = await super.add(plants);
    console.log(`audit: ${outcomes.map(({ kind }) => kind)}`);
    return outcomes;
  }
}

export default (container) => {
  container.onActivation(services.PlantRepository, (_, repository) => new Audit(repository));
};
