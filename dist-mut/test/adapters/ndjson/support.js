import { exportPlants, importPlants, } from '../../../adapters/ndjson/index.js';
import { loadDescription, PlantCodec } from '../../../adapters/wire/index.js';
import { CreatePlant, ReadPlants } from '../../../core/index.js';
export const codec = new PlantCodec(loadDescription());
/** Imports a text, or chunks of one, into a repository. */
export async function importInto(plants, input, options = {}) {
    async function* chunks() {
        yield* typeof input === 'string' ? [Buffer.from(input)] : input;
    }
    const rejects = [];
    const summary = await importPlants(chunks(), {
        createPlant: new CreatePlant(plants),
        codec,
        lineBytesMax: 1024,
        onReject: (reject) => void rejects.push(reject),
        ...options,
    });
    return { summary, rejects };
}
/** Everything that a repository holds, as NDJSON. */
export async function exported(plants) {
    let text = '';
    for await (const piece of exportPlants(new ReadPlants(plants), codec))
        text += piece;
    return text;
}
/** The lines of `count` plants, from the id `first` on. */
export function plantLines(first, count) {
    return Array.from({ length: count }, (_, index) => `{"id":${first + index},"name":"plant ${first + index}"}\n`).join('');
}
//# sourceMappingURL=support.js.map