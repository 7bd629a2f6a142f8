import { existsSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder, plantLines } from '../../support/command-folder.js';
import { plantStore } from '../../support/executable.js';

describe('plant-store export', () => {
  const folder = new CommandFolder();

  it('writes one plant per line, ascending by id', async () => {
    const database = folder.newDatabase();
    await folder.run(
      ['import'],
      database,
      '{"id":10,"name":"b"}\n{"id":-9,"name":"a","tag":"\\n"}\n{"id":9,"name":"🌵"}\n',
    );
    expect(await folder.run(['export'], database)).to.deep.equal({
      exitCode: 0,
      stdout: '{"id":-9,"name":"a","tag":"\\n"}\n{"id":9,"name":"🌵"}\n{"id":10,"name":"b"}\n',
      stderr: '',
    });
  });

  it('fails for a missing store, and does not create one', async () => {
    const database = folder.newDatabase();
    const { exitCode, stdout, stderr } = await folder.run(['export'], database);
    expect({ exitCode, stdout }).to.deep.equal({ exitCode: 1, stdout: '' });
    expect(stderr).to.match(/^plant-store: cannot open sqlite:.*: it does not exist\n$/);
    expect(existsSync(folder.fileOf(database))).to.equal(false);
  });

  it('exits with 0 and no message when the reader closes the pipe', async () => {
    const database = folder.newDatabase();
    await folder.run(['import'], database, plantLines(1, 20_000));
    const program = plantStore(folder.path, ['export'], database);
    await program.waitForOutput(/"id":1,/);
    program.process.stdout?.destroy();
    expect(await program.exited()).to.equal(0);
    expect(program.stderr).to.equal('');
  });

  it('ends at SIGTERM although the pipe is not read, and closes the store', async () => {
    const database = folder.newDatabase();
    await folder.run(['import'], database, plantLines(1, 20_000));
    const program = plantStore(folder.path, ['export'], database);
    program.process.stdout?.once('data', () => program.process.stdout?.pause());
    await program.waitForOutput(/"id":1,/);
    expect(await program.stop()).to.equal(143);
    expect(existsSync(`${folder.fileOf(database)}-wal`)).to.equal(false);
  });

  it('reports a write error in one line', async () => {
    const database = folder.newDatabase();
    await folder.run(['import'], database, plantLines(1, 1));
    const { exitCode, stderr } = await folder.shell('exec $PLANT_STORE export > /dev/full', database);
    expect(exitCode).to.equal(1);
    expect(stderr).to.equal('plant-store: cannot write to standard output: the disk is full; free some space\n');
  });
});
