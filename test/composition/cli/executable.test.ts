import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { sqliteStore } from '../../support/engines.js';
import { plantStore } from '../../support/executable.js';
import { plantLines } from '../../support/plants.js';
import { runInProcess } from './in-process.js';

describe('The executable', () => {
  const folder = new CommandFolder();

  async function newStore(count: number) {
    const database = folder.newDatabase();
    await runInProcess(folder.path, ['import'], database, plantLines(1, count));
    return database;
  }

  for (const [line, problem] of [
    ['import < .', 'cannot read standard input: it is a directory; name a file in it'],
    ['export > /dev/full', 'cannot write to standard output: the disk is full; free some space'],
    ['token > /dev/full', 'cannot write to standard output: the disk is full; free some space'],
  ] as const) {
    it(`reports the failed system call: ${line}`, async () => {
      const result = await folder.shell(`exec $PLANT_STORE ${line}`, await newStore(1));
      expect(result).to.deep.equal({ exitCode: 1, stdout: '', stderr: `plant-store: ${problem}\n` });
    });
  }

  it('import exits at once on SIGINT while it waits for standard input', async () => {
    const database = folder.newDatabase();
    const program = plantStore(folder.path, ['import'], database);
    program.type(`${plantLines(1, 3999)}no JSON\n`);
    await program.waitForOutput(/"line":4000,/);
    program.type(plantLines(5000, 10));
    expect(await program.kill('SIGINT').exited()).to.equal(130);
    expect(program.stderr)
      .to.match(/^3999 plants created/m)
      .and.to.match(/interrupted; run the same import again/);
    expect(await sqliteStore(folder.fileOf(database)).readPlants()).to.have.lengthOf(3999);
  });

  it('export ends with 0 when the reader closes the pipe, with 143 on SIGTERM if it is not read, and closes the store', async () => {
    const database = await newStore(20_000);
    const start = async () => {
      const program = plantStore(folder.path, ['export'], database);
      program.process.stdout?.once('data', () => program.process.stdout?.pause());
      await program.waitForOutput(/"id":1,/);
      return program;
    };
    const unread = await start();
    expect(await unread.stop()).to.equal(143);
    expect(existsSync(`${folder.fileOf(database)}-wal`)).to.equal(false);
    const closed = await start();
    closed.process.stdout?.destroy();
    expect(await closed.exited()).to.equal(0);
    expect(closed.stderr).to.equal('');
  });
});
