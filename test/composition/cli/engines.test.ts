import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { CommandFolder } from '../../support/command-folder.js';
import { testEngines } from '../../support/engines.js';
import { conclusive } from '../../system/history.js';
import { CLIENTS, Load } from '../../system/load.js';
import { runInProcess } from './in-process.js';

for (const engine of testEngines) {
  describe(`The commands on ${engine.name}`, () => {
    const folder = new CommandFolder();
    const stores = engine.stores();
    const newFile = () => folder.newDatabase().DATABASE_URL;
    const run = (args: readonly string[], DATABASE_URL: string, input = '') =>
      runInProcess(folder.path, args, { DATABASE_URL }, { input });

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

/** Names and tags that an engine, a pipe or JSON might change. */
const TEXTS = [
  'Monstera',
  '',
  ' ',
  'a ',
  'A',
  'é',
  'e\u0301',
  '🌵',
  '\u{10ffff}',
  '\uffff\ufeff',
  '\n',
  '\r\n',
  '\t',
  '\u2028\u2029',
  '\u0001\u001f\u007f',
  '"\\\'`',
  '%s ? :id $1 {}',
  'NULL',
  '👩🏽‍🌾',
  'x'.repeat(3000),
];

/** Returns NDJSON of 5,000 plants with ids across int64, including both limits, as an export writes it. */
function oddLines(): string {
  const [min, max, last] = [-(2n ** 63n), 2n ** 63n - 1n, 4999n];
  const lines: string[] = [];
  for (let index = 0n; index <= last; index++) {
    const id = index === last ? max : min + index * ((max - min) / last);
    const text = TEXTS[Number(index) % TEXTS.length] ?? '';
    const tag = TEXTS[Number(index / 7n) % TEXTS.length];
    const fields = index % 3n === 0n ? { name: text } : { name: text, tag };
    lines.push(`{"id":${id},${JSON.stringify(fields).slice(1)}\n`);
  }
  return lines.join('');
}
