import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { testEngines } from '../../support/engines.js';
import { newPlant, storableText } from '../../support/texts.js';
import { runInProcess } from './in-process.js';

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
      let text = oddLines();
      const lines = text;
      for (const url of [newFile(), (await stores.create()).url, newFile()]) {
        const stderr = '5000 plants created, 0 already stored, 0 lines rejected\n';
        expect(await run(['import'], url, text)).to.deep.equal({ exitCode: 0, stdout: '', stderr });
        const { stdout, ...result } = await run(['export'], url);
        expect(result).to.deep.equal({ exitCode: 0, stderr: '' });
        expect(stdout === lines, 'the export equals the first import').to.equal(true);
        text = stdout;
      }
    });
  });
}

/** Returns NDJSON of 5,000 plants with ids across int64, including both limits, as an export writes it. */
function oddLines(): string {
  const [min, max, last] = [-(2n ** 63n), 2n ** 63n - 1n, 4999n];
  // Texts that an engine, a pipe or JSON might change.
  const odd = ['', 'a ', 'A', 'e\u0301', '\uffff\ufeff', '\r\n', '\u2028', '"\\\'`', '%s ? :id $1', 'x'.repeat(3000)];
  const plant = newPlant(fc.constant(0n), fc.oneof(fc.constantFrom(...odd), storableText()));
  const lines = fc.sample(plant, { numRuns: Number(last) + 1, seed: 1 }).map(({ id: _, ...texts }, index) => {
    const id = BigInt(index) === last ? max : min + BigInt(index) * ((max - min) / last);
    return `{"id":${id},${JSON.stringify(texts).slice(1)}\n`;
  });
  return lines.join('');
}
