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
    const run = (args: readonly string[], DATABASE_URL: string, input = '') =>
      runInProcess(folder.path, args, { DATABASE_URL }, input);

    it('migrate creates the schema once, and --dry-run changes nothing', async () => {
      const store = await stores.create();
      const migrate = async (...flags: string[]) => {
        const { exitCode, stdout, stderr } = await run(['migrate', ...flags], store.url);
        expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: '' });
        return stdout;
      };
      const planned = await migrate('--dry-run');
      expect(planned).to.match(/^\w+:.* contains no store yet\n(would apply \w+\n)+$/);
      const { pending } = JSON.parse(await migrate('--dry-run', '--json'));
      expect(await store.readPlants().catch(() => 'no table')).to.equal('no table');
      expect(JSON.parse(await migrate('--json'))).to.deep.equal({ applied: pending, pending: [] });
      expect(await store.readPlants()).to.deep.equal([]);
      for (const flags of [[], ['--dry-run']]) expect(await migrate(...flags)).to.equal('the schema is up to date\n');
    });

    it('export and import move 5,000 plants from SQLite to the engine and back without changing a byte', async () => {
      let text = LINES;
      for (const url of [newFile(), (await stores.create()).url, newFile()]) {
        const stderr = '5000 plants created, 0 already stored, 0 lines rejected\n';
        expect(await run(['import'], url, text)).to.deep.equal({ exitCode: 0, stdout: '', stderr });
        const { stdout, ...result } = await run(['export'], url);
        expect(result).to.deep.equal({ exitCode: 0, stderr: '' });
        expect(stdout === LINES, 'the export equals the first import').to.equal(true);
        text = stdout;
      }
    });
  });
}
