import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { MAX_PLANT_ID, MIN_PLANT_ID } from '../../core/index.js';
import { runInProcess } from '../composition/cli/in-process.js';
import { TEXTS } from '../contract/sample-plants.js';
import { toLines } from '../support/client.js';
import { CommandFolder } from '../support/command-folder.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { plantStore } from '../support/executable.js';
import { plantLines } from '../support/plants.js';
import { skipUnless } from '../support/skip-unless.js';
import { testOrSoak } from './soak.js';

const ALL = plantLines(1, 20_000);
/** An export of 5,000 plants, with ids across int64 and strings that an engine, a pipe or JSON might change. */
const LINES = Array.from({ length: 5000 }, (_, index) => {
  const textAt = (position: number) => JSON.stringify(TEXTS[position % TEXTS.length]);
  const id = index === 4999 ? MAX_PLANT_ID : MIN_PLANT_ID + BigInt(index) * (2n ** 64n / 4999n);
  return `{"id":${id},"name":${textAt(index)}${index % 3 === 0 ? '' : `,"tag":${textAt(7 * index)}`}}\n`;
}).join('');

for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
  describe(`An import into ${engine.name}`, () => {
    const folder = new CommandFolder();
    const stores = engine.stores();

    it('and its export move 5,000 plants from SQLite to the engine and back without changing a byte', async () => {
      let text = LINES;
      for (const DATABASE_URL of ['sqlite:from.db', (await stores.create()).url, 'sqlite:to.db']) {
        const stderr = '5000 plants created, 0 already stored, 0 lines rejected\n';
        const imported = await runInProcess(folder.path, ['import'], { DATABASE_URL }, text);
        expect(imported).to.deep.equal({ exitCode: 0, stdout: '', stderr });
        const { stdout, ...result } = await runInProcess(folder.path, ['export'], { DATABASE_URL });
        expect(result).to.deep.equal({ exitCode: 0, stderr: '' });
        expect(stdout === LINES, 'the export equals the first import').to.equal(true);
        text = stdout;
      }
    });

    for (const [signal, exitCode] of [
      ...Array(testOrSoak(1, 3)).fill(['SIGKILL', 'SIGKILL'] as const),
      ['SIGTERM', 143],
    ] as const) {
      it(`is interrupted by ${signal}, and completes when repeated`, async () => {
        const database = { DATABASE_URL: (await stores.create()).url };
        const program = plantStore(folder.path, ['import'], database);
        const lines = toLines(ALL);
        program.type(`${lines.slice(0, 4000).join('\n')}\nno JSON\n${lines.slice(4000).join('\n')}\n`);
        await program.waitForOutput(/"line":4001,/);
        expect(await program.kill(signal).exited()).to.equal(exitCode);

        const { exitCode: again, stderr } = await runInProcess(folder.path, ['import'], database, ALL);
        expect(again).to.equal(0);
        const summary = /^(\d+) plants? created, (\d+) already stored, 0 lines rejected\n$/.exec(stderr);
        const [created = 0, stored = 0] = summary?.slice(1).map(Number) ?? [];
        expect(created + stored, stderr).to.equal(20_000);
        expect(stored).to.be.at.least(4000);
        const exported = await runInProcess(folder.path, ['export'], database);
        expect(exported.stdout === ALL, 'the export is the text that was imported').to.equal(true);
      });
    }
  });
}

describe('Import and export in constant memory', () => {
  const folder = new CommandFolder();
  before(function () {
    skipUnless(this, existsSync('/proc/self/status'), 'a /proc file system');
  });

  for (const [what, count, line] of [
    ['300,000 plants', 300_000, (index: number) => `{"id":${index},"name":"plant ${index}","tag":"indoor"}\n`],
    ['300 plants with names of 1 MiB', 300, (index: number) => `{"id":${index},"name":"${'x'.repeat(2 ** 20)}"}\n`],
  ] as const) {
    it(`imports and exports ${what}, each in less than 256 MiB`, async () => {
      const [name, hook] = [folder.newName('ndjson'), join(folder.path, 'print-peak-memory.mjs')];
      writeFileSync(
        hook,
        `import { readFileSync, writeSync } from 'node:fs';
         process.on('exit', () => writeSync(2, \`\${/VmHWM:.*kB/.exec(readFileSync('/proc/self/status', 'latin1'))}\\n\`));`,
      );
      const file = openSync(join(folder.path, name), 'w');
      for (let index = 0; index < count; index++) writeSync(file, line(index));
      closeSync(file);
      const environment = {
        ...folder.newDatabase(),
        BODY_LIMIT: '2mb',
        NODE_OPTIONS: `--import=${pathToFileURL(hook)}`,
      };
      const command = `$PLANT_STORE import < ${name} && $PLANT_STORE export | cmp - ${name}`;
      const { exitCode, stderr } = await folder.shell(command, environment);
      const peaks = [...stderr.matchAll(/VmHWM:\s*(\d+) kB/g)].map(([, kib]) => Number(kib));
      expect(peaks, stderr).to.have.lengthOf(2);
      expect(Math.max(...peaks), 'KiB of resident set').to.be.below(256 * 1024);
      expect(exitCode).to.equal(0);
    });
  }
});
