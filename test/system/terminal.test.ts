import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CommandFolder } from '../support/command-folder.js';
import { plantLines } from '../support/plants.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';

describe('On a terminal', () => {
  const folder = new CommandFolder();
  before(function () {
    skipUnlessInstalled(this, 'script', '--version');
  });

  it('import shows its progress, the rejected lines apart from it, then the summary; export shows plants alone', async () => {
    const database = folder.newDatabase();
    const run = (line: string) => folder.shell(`script -qec '${line}' /dev/null`, { TERM: 'xterm', ...database });
    const plants = plantLines(1, 3000);
    const { stdout } = await run(`$PLANT_STORE import ${folder.newFile(`no JSON\n${plants}`)}`);
    expect(stdout).to.match(/100% \| (\d+) of \1 bytes/);
    // An escape code clears the line before.
    expect(stdout).to.match(/K\{"line":1,"error":40001,"message":"[^"]*"\}\r\n/);
    expect(stdout).to.match(/\r\n3000 plants created, 0 already stored, 1 line rejected\r\n/);
    // A signal would leave a hidden cursor hidden.
    expect(stdout).not.to.include('\u001b[?25l');
    expect(await run('$PLANT_STORE export')).to.include({ stdout: plants.replaceAll('\n', '\r\n') });
  });
});
