import { closeSync, existsSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { toLines } from '../support/client.js';
import { CommandFolder } from '../support/command-folder.js';
import { skipUnless } from '../support/skip-unless.js';

describe('Import and export in constant memory', () => {
  const folder = new CommandFolder();

  const MAX_RSS_KIB = 256 * 1024;
  before(function () {
    skipUnless(this, existsSync('/proc/self/status'), 'a /proc file system');
  });

  /** Runs a shell command line and expects the peak resident set of each Node process to be below the maximum. */
  async function runMeasured(line: string, environment: Readonly<Record<string, string>>) {
    const hook = join(folder.path, 'print-peak-memory.mjs');
    writeFileSync(
      hook,
      `import { readFileSync, writeSync } from 'node:fs';
       process.on('exit', () => writeSync(2, \`\${/VmHWM:.*kB/.exec(readFileSync('/proc/self/status', 'latin1'))}\\n\`));`,
    );
    const result = await folder.shell(line, { ...environment, NODE_OPTIONS: `--import=${pathToFileURL(hook)}` });
    const peaks = [...result.stderr.matchAll(/VmHWM:\s*(\d+) kB/g)].map(([, kib]) => Number(kib));
    expect(peaks, result.stderr).to.not.be.empty;
    expect(Math.max(...peaks), 'KiB of resident set').to.be.below(MAX_RSS_KIB);
    expect(result.exitCode).to.equal(0);
    return { ...result, peaks };
  }

  for (const [what, count, line] of [
    ['300,000 plants', 300_000, (index: number) => `{"id":${index},"name":"plant ${index}","tag":"indoor"}\n`],
    ['300 plants with names of 1 MiB', 300, (index: number) => `{"id":${index},"name":"${'x'.repeat(2 ** 20)}"}\n`],
  ] as const) {
    it(`imports and exports ${what}, each in less than 256 MiB`, async () => {
      const name = folder.newName('ndjson');
      const file = openSync(join(folder.path, name), 'w');
      for (let index = 0; index < count; index++) writeSync(file, line(index));
      closeSync(file);
      const { peaks } = await runMeasured(`$PLANT_STORE import < ${name} && $PLANT_STORE export | cmp - ${name}`, {
        ...folder.newDatabase(),
        BODY_LIMIT: '2mb',
      });
      expect(peaks).to.have.lengthOf(2);
    });
  }

  it('rejects 200,000 lines and one line of 300 MB in less than 256 MiB', async () => {
    const { stderr } = await runMeasured(
      `{ yes 'no JSON' | head -n 200000; head -c 300000000 /dev/zero; } | $PLANT_STORE import --rejects rejects.ndjson || [ $? = 1 ]`,
      folder.newDatabase(),
    );
    expect(stderr).to.include('0 plants created, 0 already stored, 200001 lines rejected\n');
    const lines = toLines(readFileSync(join(folder.path, 'rejects.ndjson'), 'utf8'));
    expect(JSON.parse(lines.at(-1) ?? '')).to.include({ line: 200_001, error: 41301 });
  });
});
