/** The whole store as NDJSON of NewPlant objects, ascending by id, in pieces of many lines. */
export async function* exportPlants(readPlants, codec, onProgress) {
    let plants = 0;
    for await (const page of readPlants.execute()) {
        yield page.map((plant) => `${codec.encodeNewPlant(plant)}\n`).join('');
        plants += page.length;
        onProgress?.(plants);
    }
}
//# sourceMappingURL=export-plants.js.map