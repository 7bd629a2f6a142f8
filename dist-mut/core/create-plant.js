import { Plant } from './plant.js';
/** Use case: a client creates a plant under an id that it chose. */
export class CreatePlant {
    #plants;
    constructor(plants) {
        this.#plants = plants;
    }
    /**
     * Creates one plant; a created plant is durable when this resolves.
     *
     * @throws {StorageUnavailable} whether the plant was stored may be open then; creating it again finds out
     */
    async execute(newPlant) {
        const plant = Plant.from(newPlant);
        if (!(plant instanceof Plant))
            return { kind: 'invalid', violations: plant };
        const outcomes = await this.#plants.add([plant]);
        return outcomeOf(plant, outcomes[0]);
    }
    /**
     * Creates many plants, each by itself: one that fails does not take its neighbours along.
     *
     * @returns one outcome per plant, in their order
     * @throws {StorageUnavailable} as {@link execute} does, for all of them
     */
    async executeAll(newPlants) {
        const candidates = newPlants.map(Plant.from);
        const plants = candidates.filter((candidate) => candidate instanceof Plant);
        const outcomes = (await this.#plants.add(plants)).values();
        return candidates.map((candidate) => candidate instanceof Plant
            ? outcomeOf(candidate, outcomes.next().value)
            : { kind: 'invalid', violations: candidate });
    }
}
function outcomeOf(plant, added) {
    switch (added?.kind) {
        case 'added':
            return { kind: 'created', plant };
        case 'taken':
            return added.holder.equals(plant) ? { kind: 'already-stored', plant } : { kind: 'id-taken' };
        case 'refused':
            return added;
        case undefined:
            throw new TypeError('PlantRepository.add must return one outcome per plant');
    }
}
//# sourceMappingURL=create-plant.js.map