import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { services } from '../../composition/container.js';
import { Plant, StorageUnavailable } from '../../core/index.js';
import { JsonlPlantRepository } from '../../docs/examples/jsonl-repository/jsonl-plant-repository.js';
import { durablePlantRepositoryContract } from '../contract/index.js';
import { runContract } from '../support/run-contract.js';
import { startService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
describe('The example of a repository in a JSON-lines file', () => {
    const folder = temporaryFolder();
    let files = 0;
    const newFile = () => join(folder, `${++files}.jsonl`);
    describe('keeps the contract:', () => {
        let path;
        runContract(durablePlantRepositoryContract, {
            open: () => {
                path = newFile();
                return JsonlPlantRepository.open(path);
            },
            reopen: () => {
                // One process at a time has the file open: where the last one is not closed, a copy is what it left behind.
                const last = path;
                if (existsSync(`${last}.lock`)) {
                    path = newFile();
                    copyFileSync(last, path);
                }
                return JsonlPlantRepository.open(path);
            },
        });
    });
    it('recovers from a last line that was torn at any place', async () => {
        const path = newFile();
        const plants = await JsonlPlantRepository.open(path);
        await plants.add([plant(1n, 'Monstera')]);
        const kept = readFileSync(path);
        await plants.add([plant(2n, 'Caña 🌵', 'outdoor')]);
        await plants.close();
        const whole = readFileSync(path);
        for (let length = kept.length; length < whole.length; length++) {
            writeFileSync(path, whole.subarray(0, length));
            const reopened = await JsonlPlantRepository.open(path);
            expect(await namesOf(reopened), `torn after ${length} bytes`).to.deep.equal(['Monstera']);
            await reopened.add([plant(3n, 'Ficus')]);
            await reopened.close();
            const again = await JsonlPlantRepository.open(path);
            expect(await namesOf(again)).to.deep.equal(['Monstera', 'Ficus']);
            await again.close();
        }
    });
    it('lets one process at a time open the file, and tells the next one what to do where that one was killed', async () => {
        const path = newFile();
        const killed = await JsonlPlantRepository.open(path);
        await killed.add([plant(1n, 'Monstera')]);
        const error = await errorOf(JsonlPlantRepository.open(path));
        expect(error).to.be.instanceOf(StorageUnavailable);
        expect(error).to.have.property('message', `cannot lock ${path} (if no process has it open, remove ${path}.lock): EEXIST`);
        rmSync(`${path}.lock`);
        const plants = await JsonlPlantRepository.open(path);
        expect(await namesOf(plants)).to.deep.equal(['Monstera']);
        await plants.close();
        await killed.close();
    });
    for (const [what, text] of [
        ['no JSON', '["1","Mon\n'],
        ['no plant', '["1"]\n'],
        ['an id that is no integer', '["one","Monstera",null]\n'],
    ]) {
        it(`refuses a file with a line that is ${what}, and leaves it as it is`, async () => {
            const path = newFile();
            writeFileSync(path, text);
            const error = await errorOf(JsonlPlantRepository.open(path));
            expect(error).to.be.instanceOf(StorageUnavailable);
            expect(error).to.have.property('message', `cannot open ${path}: it holds a line that is no plant`);
            expect(readFileSync(path, 'utf8')).to.equal(text);
            expect(existsSync(`${path}.lock`)).to.equal(false);
        });
    }
    it('is put into the service by one binding', async () => {
        const path = newFile();
        const plants = await JsonlPlantRepository.open(path);
        const service = await startService({}, (container) => {
            container.rebind(services.PlantRepository).toConstantValue(plants);
        });
        const response = await fetch(`http://127.0.0.1:${service.port}/plants`, {
            method: 'POST',
            headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' },
            body: '{"id":9223372036854775807,"name":"Monstera"}',
        });
        expect(response.status).to.equal(200);
        expect(readFileSync(path, 'utf8')).to.equal('["9223372036854775807","Monstera",null]\n');
        await service.stop();
    });
});
function plant(id, name, tag) {
    const made = Plant.from({ id, name, tag });
    if (made instanceof Plant)
        return made;
    throw new TypeError('no plant');
}
async function namesOf(plants) {
    const names = [];
    for await (const batch of plants.readAll())
        names.push(...batch.map(({ name }) => name));
    return names;
}
async function errorOf(work) {
    const [result] = await Promise.allSettled([work]);
    return result.status === 'rejected' ? result.reason : undefined;
}
//# sourceMappingURL=jsonl-repository.test.js.map