/** Use case: every plant of the store, ascending by id. */
export class ReadPlants {
    #plants;
    constructor(plants) {
        this.#plants = plants;
    }
    /**
     * The plants in batches, for constant memory.
     *
     * @throws {StorageUnavailable} while iterating
     */
    execute() {
        return this.#plants.readAll();
    }
}
//# sourceMappingURL=read-plants.js.map