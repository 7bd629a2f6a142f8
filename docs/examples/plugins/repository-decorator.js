import { services } from 'plant-store';

class Audit {
  #repository;

  constructor(repository) {
    this.#repository = repository;
  }

  async add(plants) {
    const outcomes = await this.#repository.add(plants);
    console.error(`audit: ${outcomes.map(({ kind }) => kind)}`);
    return outcomes;
  }

  readAll() {
    return this.#repository.readAll();
  }
}

export default (container) => {
  container.onActivation(services.PlantRepository, (_, repository) => new Audit(repository));
};
