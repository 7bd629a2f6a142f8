import { expect } from 'chai';
import { before, describe, it } from 'mocha';
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

  it('import shows its progress, the rejected lines apart from it, then the summary; export shows plants alone', async () => {
    const database = folder.newDatabase();
    const run = (line: string) => folder.shell(`script -qec '${line}' /dev/null`, { TERM: 'xterm', ...database });
    const plants = plantLines(1, 3000);
    const { exitCode, stdout } = await run(`$PLANT_STORE import ${folder.newFile(`no JSON\n${plants}`)}`);
    expect(exitCode).to.equal(1);
    expect(stdout).to.match(/100% \| (\d+) of \1 bytes/);
    // After the escape code that clears the line.
    expect(stdout).to.match(/K\{"line":1,"error":40001,"message":"[^"]*"\}\r\n/);
    expect(stdout).to.match(/\r\n3000 plants created, 0 already stored, 1 line rejected\r\n/);
    // A signal would leave a hidden cursor hidden.
    expect(stdout).to.include(ESCAPE).and.not.to.include(`${ESCAPE}[?25l`);
    expect(await run('$PLANT_STORE export')).to.include({ stdout: plants.replaceAll('\n', '\r\n') });
    expect((await run('$PLANT_STORE export > plants')).stdout).to.include(`${plants.length} bytes`);
  });

  it('the log is human-readable, in colours unless NO_COLOR is set', async () => {
    // The arguments of the shell are those of the executable.
    const wrapper = ['sh', '-c', 'exec script -qec "exec $*" /dev/null', 'sh'];
    for (const environment of [{}, { NO_COLOR: '1' }]) {
      const terminal = serve(folder.path, { DATABASE_URL: 'memory:', TERM: 'xterm', ...environment }, wrapper);
      expect((await create(await terminal.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
      terminal.process.stdin.write('\x03');
      expect(await terminal.exited()).to.equal(0);
      expect(terminal.stdout).to.match(/\d\d:\d\d:\d\d\.\d{3}.*INFO.*request[\s\S]*SIGINT[\s\S]*stopped/);
      expect(terminal.stdout.includes(ESCAPE)).to.equal(!('NO_COLOR' in environment));
    }
  });
});
