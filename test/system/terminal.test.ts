import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { runInProcess } from '../composition/cli/in-process.js';
import { create, serve } from '../support/client.js';
import { CommandFolder } from '../support/command-folder.js';
import { plantLines } from '../support/plants.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';

const ESCAPE = '\u001b';

describe('On a terminal', () => {
  const folder = new CommandFolder();
  before(function () {
    skipUnlessInstalled(this, 'script', '--version');
  });

  /** Runs a shell command line on a pseudo-terminal. */
  const run = (line: string, environment: Readonly<Record<string, string>>) =>
    folder.shell(`script -qec '${line}' /dev/null`, { TERM: 'xterm', ...environment });

  it('import shows its progress up to 100%, the rejected lines apart from it, then the summary', async () => {
    const file = folder.newFile(`no JSON\n${plantLines(1, 3000)}`);
    const { exitCode, stdout } = await run(`$PLANT_STORE import ${file}`, folder.newDatabase());
    expect(exitCode).to.equal(1);
    expect(stdout).to.match(/100% \| (\d+) of \1 bytes/);
    // After the escape code that clears the line.
    expect(stdout).to.match(/K\{"line":1,"error":40001,"message":"[^"]*"\}\r\n/);
    expect(stdout).to.match(/\r\n3000 plants created, 0 already stored, 1 lines rejected\r\n/);
    // A signal would leave a hidden cursor hidden.
    expect(stdout).to.include(ESCAPE).and.not.to.include(`${ESCAPE}[?25l`);
  });

  it('export shows its progress only if standard output is not that terminal', async () => {
    const database = folder.newDatabase();
    await runInProcess(folder.path, ['import'], database, plantLines(1, 3000));
    const plants = plantLines(1, 3000);
    expect(await run('$PLANT_STORE export', database)).to.include({ stdout: plants.replaceAll('\n', '\r\n') });
    const output = folder.newName('ndjson');
    const { stdout } = await run(`$PLANT_STORE export > ${output}`, database);
    expect(stdout).to.include(ESCAPE).and.to.include(`${plants.length} bytes`);
    expect(readFileSync(join(folder.path, output), 'utf8')).to.equal(plants);
  });

  for (const [environment, hasColours] of [
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ] as const) {
    it(`the log is human-readable and has ${hasColours ? '' : 'no '}colours with ${JSON.stringify(environment)}`, async () => {
      const settings = { DATABASE_URL: 'memory:', TERM: 'xterm', ...environment };
      // The arguments of the shell are those of the executable.
      const wrapper = ['sh', '-c', 'exec script -qec "exec $*" /dev/null', 'sh'];
      const terminal = serve(folder.path, settings, wrapper);
      expect((await create(await terminal.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
      expect(await terminal.type('\x03').exited()).to.equal(0);
      expect(terminal.stdout).to.match(/\d\d:\d\d:\d\d\.\d{3}.*INFO.*request[\s\S]*SIGINT[\s\S]*stopped/);
      expect(terminal.stdout).not.to.match(/^\{"/m);
      expect(terminal.stdout.includes(ESCAPE)).to.equal(hasColours);
    });
  }
});
