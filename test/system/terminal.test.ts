import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, TOKEN, toOutcome } from '../support/client.js';
import { CommandFolder, plantLines } from '../support/command-folder.js';
import { CLI, Program } from '../support/executable.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';

describe('The progress bar', () => {
  const folder = new CommandFolder();

  const ESCAPE = '\u001b';
  before(function () {
    skipUnlessInstalled(this, 'script', '--version');
  });

  /** Runs a shell command line on a pseudo-terminal. */
  const runOnTerminal = (line: string, environment: Readonly<Record<string, string>>) =>
    folder.shell(`script -qec '${line}' /dev/null`, { ...environment, TERM: 'xterm' });

  it('of an import is shown on a terminal, reaches 100%, and is followed by the summary', async () => {
    const file = folder.newFile(plantLines(1, 3000));
    const { exitCode, stdout } = await runOnTerminal(`$PLANT_STORE import ${file}`, folder.newDatabase());
    expect(exitCode).to.equal(0);
    expect(stdout)
      .to.include(ESCAPE)
      .and.to.match(/100% \| (\d+) of \1 bytes/);
    expect(stdout).to.match(/\r\n3000 plants created, 0 already stored, 0 lines rejected\r\n/);
  });

  it('is not shown on a dumb terminal', async () => {
    const line = `TERM=dumb $PLANT_STORE import ${folder.newFile(plantLines(1, 3000))}`;
    expect(await runOnTerminal(line, folder.newDatabase())).to.deep.equal({
      exitCode: 0,
      stdout: '3000 plants created, 0 already stored, 0 lines rejected\r\n',
      stderr: '',
    });
  });

  it('of an import does not mix with rejected lines', async () => {
    const file = folder.newFile('no JSON\n');
    const { exitCode, stdout } = await runOnTerminal(`$PLANT_STORE import ${file}`, folder.newDatabase());
    expect(exitCode).to.equal(1);
    // After the escape code that clears the line.
    expect(stdout).to.match(/K\{"line":1,"error":40001,"message":"[^"]*"\}\r\n/);
  });

  it('of an export is shown on a terminal while standard output is a file', async () => {
    const database = folder.newDatabase();
    await folder.run(['import'], database, plantLines(1, 3000));
    const output = folder.newName('ndjson');
    const { exitCode, stdout } = await runOnTerminal(`$PLANT_STORE export > ${output}`, database);
    expect(exitCode).to.equal(0);
    expect(stdout).to.include(ESCAPE).and.to.include('3000 plants');
    expect(readFileSync(join(folder.path, output), 'utf8')).to.equal(plantLines(1, 3000));
  });

  it('of an export is not shown if standard output is the same terminal', async () => {
    const database = folder.newDatabase();
    await folder.run(['import'], database, plantLines(1, 3));
    const { stdout } = await runOnTerminal('$PLANT_STORE export', database);
    expect(stdout).to.equal(plantLines(1, 3).replaceAll('\n', '\r\n'));
  });

  it('never hides the cursor, because a signal would leave it hidden', async () => {
    const file = folder.newFile(plantLines(1, 3));
    const { stdout } = await runOnTerminal(`$PLANT_STORE import ${file}`, folder.newDatabase());
    expect(stdout).to.include(ESCAPE).and.not.to.include(`${ESCAPE}[?25l`);
  });

  it('is not shown without a terminal', async () => {
    const database = folder.newDatabase();
    const imported = await folder.run(['import', folder.newFile(plantLines(1, 3000))], database);
    const exported = await folder.run(['export'], database);
    expect(imported.stdout + imported.stderr + exported.stdout + exported.stderr).not.to.include(ESCAPE);
  });
});

describe('The log on a terminal', () => {
  const folder = new CommandFolder();
  before(function () {
    skipUnlessInstalled(this, 'script', '--version');
  });

  /** Runs the service on a pseudo-terminal until Ctrl-C and returns its output. */
  async function serveOnTerminal(environment: Readonly<Record<string, string>>): Promise<string> {
    const command: [string, ...string[]] = ['script', '-qec', 'exec "$NODE" "$CLI"', '/dev/null'];
    const settings = { PORT: '0', DATABASE_URL: 'memory:', ACCESS_TOKENS: TOKEN, TERM: 'xterm', ...environment };
    const terminal = new Program(folder.path, command, { NODE: process.execPath, CLI, ...settings });
    expect(toOutcome(await create(await terminal.port(), { id: 1n, name: 'Monstera' }))).to.equal(200);
    expect(await terminal.type('\x03').exited()).to.equal(0);
    return terminal.stdout;
  }

  it('is human-readable, not JSON', async () => {
    const output = await serveOnTerminal({});
    expect(output)
      .to.match(/\d\d:\d\d:\d\d\.\d{3}.*INFO.*request/)
      .and.to.contain('SIGINT');
    expect(output).not.to.contain('{"');
  });

  it('has colours', async () => {
    expect(await serveOnTerminal({})).to.contain('\x1b[');
  });

  const withoutColours = [
    { NO_COLOR: '1' },
    { NO_COLOR: '1', FORCE_COLOR: '1' },
    { FORCE_COLOR: '0' },
    { TERM: 'dumb' },
  ];
  for (const environment of withoutColours) {
    it(`has no escape codes with ${new URLSearchParams(environment)}`, async () => {
      expect(await serveOnTerminal(environment)).not.to.contain('\x1b');
    });
  }
});
