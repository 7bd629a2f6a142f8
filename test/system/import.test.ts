import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAX_PLANT_ID, MIN_PLANT_ID } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { TEXTS } from '#contract/sample-plants.js';
import { CommandFolder } from '../support/command-folder.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { plantStore } from '../support/executable.js';

const COUNT = 20_000;
/** An export, with ids across int64 and strings that an engine, a pipe or JSON might change. */
const LINES = Array.from({ length: COUNT }, (_, index) => {
  const textAt = (position: number) => JSON.stringify(TEXTS[position % TEXTS.length]);
  const id = index === COUNT - 1 ? MAX_PLANT_ID : MIN_PLANT_ID + BigInt(index) * (2n ** 64n / BigInt(COUNT));
  return `{"id":${id},"name":${textAt(index)}${index % 3 === 0 ? '' : `,"tag":${textAt(7 * index)}`}}\n`;
});
describe('Import and export', () => {
  const folder = new CommandFolder();

  for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
    describe(engine.name, () => {
      const stores = engine.stores();

      it('complete when repeated after SIGTERM and after SIGKILL, and change no byte', async () => {
        const database = { DATABASE_URL: (await stores.create()).url };
        for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
          const until = signal === 'SIGTERM' ? 2000 : 4000;
          const program = plantStore(folder.path, ['import'], database);
          program.process.stdin.write([...LINES.slice(0, until), 'no JSON\n', ...LINES.slice(until)].join(''));
          await program.waitForOutput(RegExp(`"line":${until + 1},`));
          expect(await program.kill(signal).exited()).to.equal(signal);
        }
        const { stderr } = await folder.run(['import'], database, LINES.join(''));
        const [created = 0, stored = 0, rejected] = stderr.match(/\d+/g)?.map(Number) ?? [];
        expect([created + stored, rejected], stderr).to.deep.equal([COUNT, 0]);
        expect(stored).to.be.at.least(4000);
        const exported = await folder.run(['export'], database);
        expect(exported.stdout === LINES.join(''), 'the export is the text that was imported').to.equal(true);
      });
    });
  }

  it('of 300 MiB each need a heap of at most 128 MiB', async () => {
    const nameAt = (id: number) => (id % 50 === 0 ? 'x'.repeat(2 ** 20) : 'Monstera');
    const lines = Array.from({ length: 15_000 }, (_, id) => `{"id":${id},"name":"${nameAt(id)}"}\n`);
    writeFileSync(join(folder.path, 'large.ndjson'), lines.join(''));
    const settings = { BODY_LIMIT: '2mb', NODE_OPTIONS: '--max-old-space-size=128', ...folder.newDatabase() };
    const command = '$PLANT_STORE import < large.ndjson && $PLANT_STORE export | cmp - large.ndjson';
    const { exitCode, stderr } = await folder.shell(command, settings);
    expect(exitCode, stderr).to.equal(0);
  });
});
