import { toCreatePlantOutcome } from './create-plant.js';
import { type NewPlant, Plant } from './plant.js';
import type { PlantWriter } from './ports/driven/plant-repository.js';
import type { CreatePlantOutcome } from './ports/driving/create-plant-use-case.js';
import type { CreatePlantsUseCase } from './ports/driving/create-plants-use-case.js';

/** Use case: create many plants with one call of the writer. */
export class CreatePlants implements CreatePlantsUseCase {
  readonly #writer: PlantWriter;

  constructor(writer: PlantWriter) {
    this.#writer = writer;
  }

  async execute(newPlants: readonly NewPlant[]): Promise<readonly CreatePlantOutcome[]> {
    const results = newPlants.map(Plant.from);
    const plants: Plant[] = [];
    for (const result of results) if (result.kind === 'valid') plants.push(result.plant);
    const added = plants.length > 0 ? await this.#writer.add(plants) : [];
    let next = 0;
    return results.map((each) => (each.kind === 'valid' ? toCreatePlantOutcome(each.plant, added[next++]) : each));
  }
}
