import { services } from 'plant-store';

class Audit {
  #writer;

  constructor(writer) {
    this.#writer = writer;
  }

  async add(plants) {
    const outcomes = await this.#writer.add(plants);
    console.error(`audit: ${outcomes.map(({ kind }) => kind)}`);
    return outcomes;
  }
}

export default (container) => {
  container.onActivation(services.PlantWriter, (_, writer) => new Audit(writer));
};
