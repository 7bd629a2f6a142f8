import { StorageUnavailable, } from '../../core/index.js';
/** Keeps plants in a Map, as long as the process lives: for tests, and for trying things out. */
export class MemoryPlantRepository {
    #plants = new Map();
    #closed = false;
    async add(plants) {
        this.#assertOpen();
        return plants.map((plant) => this.#addOne(plant));
    }
    #addOne(plant) {
        const holder = this.#plants.get(plant.id);
        if (holder !== undefined)
            return { kind: 'taken', holder };
        this.#plants.set(plant.id, plant);
        return { kind: 'added' };
    }
    async *readAll() {
        this.#assertOpen();
        const plants = [...this.#plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
        if (plants.length > 0)
            yield plants;
    }
    async ready() {
        this.#assertOpen();
    }
    async close() {
        this.#closed = true;
    }
    #assertOpen() {
        if (this.#closed)
            throw new StorageUnavailable('the repository is closed');
    }
}
//# sourceMappingURL=memory-plant-repository.js.map