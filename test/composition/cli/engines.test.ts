import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MAX_PLANT_ID, MIN_PLANT_ID } from '../../../core/index.js';
import { TEXTS } from '../../contract/sample-plants.js';
import { CommandFolder } from '../../support/command-folder.js';
import { testEngines } from '../../support/engines.js';
import { runInProcess } from './in-process.js';

/** An export of 5,000 plants, with ids across int64 and strings that an engine, a pipe or JSON might change. */
const LINES = Array.from({ length: 5000 }, (_, index) => {
  const textAt = (position: number) => JSON.stringify(TEXTS[position % TEXTS.length]);
  const id = index === 4999 ? MAX_PLANT_ID : MIN_PLANT_ID + BigInt(index) * (2n ** 64n / 4999n);
  return `{"id":${id},"name":${textAt(index)}${index % 3 === 0 ? '' : `,"tag":${textAt(7 * index)}`}}\n`;
}).join('');

for (const engine of testEngines) {
  describe(`The commands on ${engine.name}`, () => {
    const folder = new CommandFolder();
    const stores = engine.stores();
    const newFile = () => folder.newDatabase().DATABASE_URL;
    const run = (command: string, DATABASE_URL: string, input = '') =>
      runInProcess(folder.path, [command], { DATABASE_URL }, input);

    it('check names the migrations of a new store and changes nothing; migrate applies them once', async () => {
      const store = await stores.create();
      expect((await run('check', store.url)).stdout).to.match(/; serve will apply 001_\w+(, \w+)*\n$/);
      expect(await store.readPlants().catch(() => 'no table')).to.equal('no table');
      expect((await run('migrate', store.url)).stdout).to.match(/: schema created\n$/);
      expect((await run('check', store.url)).stdout).not.to.include('will apply');
      expect((await run('migrate', store.url)).stdout).to.match(/: schema current\n$/);
    });

    it('export and import move 5,000 plants from SQLite to the engine and back without changing a byte', async () => {
      let text = LINES;
      for (const url of [newFile(), (await stores.create()).url, newFile()]) {
        const stderr = '5000 plants created, 0 already stored, 0 lines rejected\n';
        expect(await run('import', url, text)).to.deep.equal({ exitCode: 0, stdout: '', stderr });
        const { stdout, ...result } = await run('export', url);
        expect(result).to.deep.equal({ exitCode: 0, stderr: '' });
        expect(stdout === LINES, 'the export equals the first import').to.equal(true);
        text = stdout;
      }
    });
  });
}
