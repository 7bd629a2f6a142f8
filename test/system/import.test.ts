import { closeSync, existsSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MAX_PLANT_ID, MIN_PLANT_ID } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { TEXTS } from '#contract/sample-plants.js';
import { runInProcess } from '../composition/cli/in-process.js';
import { CommandFolder } from '../support/command-folder.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { plantStore } from '../support/executable.js';
import { skipUnless } from '../support/skip-unless.js';

const COUNT = 20_000;
/** An export, with ids across int64 and strings that an engine, a pipe or JSON might change. */
const LINES = Array.from({ length: COUNT }, (_, index) => {
  const textAt = (position: number) => JSON.stringify(TEXTS[position % TEXTS.length]);
  const id = index === COUNT - 1 ? MAX_PLANT_ID : MIN_PLANT_ID + BigInt(index) * (2n ** 64n / BigInt(COUNT));
  return `{"id":${id},"name":${textAt(index)}${index % 3 === 0 ? '' : `,"tag":${textAt(7 * index)}`}}\n`;
});
/** Prints the peak of the resident memory when the process exits. */
const PRINT_PEAK = `import { readFileSync, writeSync } from 'node:fs';
  process.on('exit', () => writeSync(2, \`\${/VmHWM:.*kB/.exec(readFileSync('/proc/self/status', 'latin1'))}\\n\`));`;

describe('Import and export', () => {
  const folder = new CommandFolder();

  for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
    describe(engine.name, () => {
      const stores = engine.stores();

      it('complete when repeated after SIGTERM and after SIGKILL, and change no byte', async () => {
        const database = { DATABASE_URL: (await stores.create()).url };
        for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
          const program = plantStore(folder.path, ['import'], database);
          const until = signal === 'SIGTERM' ? 2000 : 4000;
          program.process.stdin.write([...LINES.slice(0, until), 'no JSON\n', ...LINES.slice(until)].join(''));
          await program.waitForOutput(RegExp(`"line":${until + 1},`));
          expect(await program.kill(signal).exited()).to.equal(signal);
        }
        const { exitCode, stderr } = await runInProcess(folder.path, ['import'], database, LINES.join(''));
        expect(exitCode).to.equal(0);
        const summary = /^(\d+) plants? created, (\d+) already stored, 0 lines rejected\n$/.exec(stderr);
        const [created = 0, stored = 0] = summary?.slice(1).map(Number) ?? [];
        expect(created + stored, stderr).to.equal(COUNT);
        expect(stored).to.be.at.least(4000);
        const exported = await runInProcess(folder.path, ['export'], database);
        expect(exported.stdout === LINES.join(''), 'the export is the text that was imported').to.equal(true);
      });
    });
  }

  it('of 150,000 plants, 150 of which have a name of 1 MiB, each use less than 256 MiB', async function () {
    skipUnless(this, existsSync('/proc/self/status'), 'a /proc file system');
    writeFileSync(join(folder.path, 'print-peak.mjs'), PRINT_PEAK);
    const file = openSync(join(folder.path, 'large.ndjson'), 'w');
    for (let id = 0; id < 150_000; id++)
      writeSync(file, `{"id":${id},"name":"${id % 1000 === 0 ? 'x'.repeat(2 ** 20) : `plant ${id}`}"}\n`);
    closeSync(file);
    const settings = {
      BODY_LIMIT: '2mb',
      NODE_OPTIONS: `--import=${pathToFileURL(join(folder.path, 'print-peak.mjs'))}`,
    };
    const command = '$PLANT_STORE import < large.ndjson && $PLANT_STORE export | cmp - large.ndjson';
    const { exitCode, stderr } = await folder.shell(command, { ...folder.newDatabase(), ...settings });
    expect(exitCode, stderr).to.equal(0);
    const peaks = [...stderr.matchAll(/VmHWM:\s*(\d+) kB/g)].map(([, kib]) => Number(kib));
    expect(peaks, stderr).to.have.lengthOf(2);
    expect(Math.max(...peaks), 'KiB of resident set').to.be.below(256 * 1024);
  });
});
