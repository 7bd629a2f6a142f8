import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { testEngines } from '../../support/engines.js';
import { newPlant, storableText } from '../../support/texts.js';
import { conclusive } from '../../system/history.js';
import { CLIENTS, Load } from '../../system/load.js';
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
      const [state, planned = ''] = (await migrate('--dry-run')).split(/(?<=store yet\n)/);
      expect(state).to.match(/^(sqlite|postgres|mysql):.* contains no store yet\n$/);
      expect(planned).to.match(/^(would apply \w+\n)+$/);
      expect(await store.readPlants().catch(() => 'no table')).to.equal('no table');
      expect(await migrate()).to.equal(planned.replaceAll('would apply', 'applied'));
      expect(await store.readPlants()).to.deep.equal([]);
      for (const flags of [[], ['--dry-run']]) expect(await migrate(...flags)).to.equal('the schema is up to date\n');
    });

    it('export and import move 5,000 plants from SQLite to the engine and back without changing a byte', async () => {
      let text = oddLines();
      const lines = text;
      for (const url of [newFile(), (await stores.create()).url, newFile()]) {
        expect(await run(['import'], url, text)).to.deep.equal({
          exitCode: 0,
          stdout: '',
          stderr: '5000 plants created, 0 already stored, 0 lines rejected\n',
        });
        const { stdout, ...result } = await run(['export'], url);
        expect(result).to.deep.equal({ exitCode: 0, stderr: '' });
        expect(stdout === lines, 'the export equals the first import').to.equal(true);
        text = stdout;
      }
    });

    it(`serve drops no request of ${CLIENTS} clients on SIGTERM`, async () => {
      const store = await stores.create();
      const service = serve(folder.path, { DATABASE_URL: store.url, LOG_LEVEL: 'fatal' });
      const load = new Load();
      load.start(await service.port());
      await load.waitForOutcomes(10 * CLIENTS, 200);
      service.kill('SIGTERM');
      await load.stop();
      expect([...conclusive, 50303]).to.include.members(load.outcomes());
      expect(await service.exited()).to.equal(0);
      load.expectNoViolations(await store.readPlants());
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
