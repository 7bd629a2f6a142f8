import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { exportPlants } from '../../../adapters/ndjson/index.js';
import { CreatePlant, PLANT_ID_MAX, PLANT_ID_MIN, ReadPlants, StorageUnavailable, } from '../../../core/index.js';
import { codec, exported, importInto, plantLines } from './support.js';
const text = fc
    .oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }), fc.constantFrom('', ' ', '\n', '\r\n', '\u2028', '\ufeff', '"\\', 'é', 'e\u0301', '\u{10ffff}', '__proto__'))
    .map((value) => value.replaceAll('\0', ''));
const id = fc.oneof(fc.bigInt({ min: PLANT_ID_MIN, max: PLANT_ID_MAX }), fc.constantFrom(PLANT_ID_MIN, PLANT_ID_MAX, 0n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n));
const newPlants = fc.uniqueArray(fc.record({ id, name: text, tag: fc.option(text, { nil: undefined }) }), { selector: (plant) => plant.id, maxLength: 50 });
describe('An export', () => {
    it('is, imported, the same store again, whatever plants it holds and however its bytes arrive', async () => {
        await fc.assert(fc.asyncProperty(newPlants, fc.integer({ min: 1, max: 100 }), async (plants, chunkBytes) => {
            const from = new MemoryPlantRepository();
            await new CreatePlant(from).executeAll(plants);
            const whole = Buffer.from(await exported(from));
            const chunks = Array.from({ length: Math.ceil(whole.length / chunkBytes) }, (_, index) => whole.subarray(index * chunkBytes, (index + 1) * chunkBytes));
            const to = new MemoryPlantRepository();
            const { summary, rejects } = await importInto(to, chunks, { lineBytesMax: 100_000 });
            expect(rejects).to.deep.equal([]);
            expect(summary).to.include({ created: plants.length, bytes: whole.length });
            expect(await exported(to)).to.equal(`${whole}`);
            const stored = [];
            for await (const page of new ReadPlants(to).execute())
                stored.push(...page);
            const ascending = [...plants].sort((a, b) => (a.id < b.id ? -1 : 1));
            expect(stored.map(({ id, name, tag }) => ({ id, name, tag }))).to.deep.equal(ascending);
        }), { numRuns: 300 });
    });
    it('has one line for each plant, ascending by id, without a tag where there is none', async () => {
        const plants = new MemoryPlantRepository();
        await new CreatePlant(plants).executeAll([
            { id: 10n, name: 'line\nbreak', tag: '' },
            { id: -9n, name: 'Monstera' },
            { id: 9n, name: '🌵', tag: 'indoor' },
        ]);
        expect(await exported(plants)).to.equal('{"id":-9,"name":"Monstera"}\n{"id":9,"name":"🌵","tag":"indoor"}\n{"id":10,"name":"line\\nbreak","tag":""}\n');
    });
    it('of an empty store is empty', async () => {
        expect(await exported(new MemoryPlantRepository())).to.equal('');
    });
    it('tells how many plants it has written', async () => {
        const plants = new MemoryPlantRepository();
        await importInto(plants, plantLines(1, 2500));
        const counts = [];
        for await (const piece of exportPlants(new ReadPlants(plants), codec, (count) => counts.push(count))) {
            expect(piece).to.match(/\n$/);
        }
        expect(counts.at(-1)).to.equal(2500);
    });
    it('of a storage that is away ends with the error of the core', async () => {
        const plants = new MemoryPlantRepository();
        await plants.close();
        const error = await exported(plants).catch((thrown) => thrown);
        expect(error).to.be.instanceOf(StorageUnavailable);
    });
});
//# sourceMappingURL=round-trip.test.js.map