import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toLines } from '../support/client.js';
import { CommandFolder } from '../support/command-folder.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { plantStore } from '../support/executable.js';
import { plantLines } from '../support/plants.js';
import { testOrSoak } from '../support/soak.js';
import { SqliteFile } from '../support/sqlite-file.js';

const ALL = plantLines(1, 20_000);

for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
  describe(`An interrupted import into ${engine.name}`, () => {
    const folder = new CommandFolder();
    const stores = engine.stores();

    for (const [signal, exitCode] of [
      ...Array(testOrSoak(1, 3)).fill(['SIGKILL', 'SIGKILL'] as const),
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      it(`completes when repeated after ${signal}; unless killed, it reports what it has stored`, async () => {
        const database = { DATABASE_URL: (await stores.create()).url };
        const program = plantStore(folder.path, ['import'], database);
        const lines = toLines(ALL);
        program.type(`${lines.slice(0, 4000).join('\n')}\nno JSON\n${lines.slice(4000).join('\n')}\n`);
        await program.waitForOutput(/"line":4001,/);
        expect(await program.kill(signal).exited()).to.equal(exitCode);

        const { exitCode: again, stderr } = await folder.run(['import'], database, ALL);
        expect(again).to.equal(0);
        const summary = /^(\d+) plants? created, (\d+) already stored, 0 lines rejected\n$/.exec(stderr);
        const [created = 0, stored = 0] = summary?.slice(1).map(Number) ?? [];
        expect(created + stored, stderr).to.equal(20_000);
        expect(stored).to.be.at.least(4000);
        const exported = await folder.run(['export'], database);
        expect(exported.stdout === ALL, 'the export is the text that was imported').to.equal(true);
        if (signal === 'SIGKILL') return;
        expect(program.stderr).to.include(`\n${stored} plants created, 0 already stored, 1 line rejected\n`);
        expect(program.stderr).to.match(/\ninterrupted; run the same import again to continue\n$/);
      });
    }
  });
}

describe('An import that fails', () => {
  const folder = new CommandFolder();
  const BAD = '{"id":1,"name":"a"}\nno JSON\n';
  const problemsIn = (stderr: string) => toLines(stderr).filter((line) => !/^\d+ plants? created|^\{/.test(line));

  const missing = 'no such file or directory; check the path';
  for (const [args, settings, problem] of [
    [['no-such-file'], {}, `cannot open no-such-file: ${missing}`],
    [['.'], {}, 'cannot read .: it is a directory; name a file in it'],
    [['--rejects', 'no/such/folder'], {}, `cannot open no/such/folder: ${missing}`],
    [['--rejects', '/dev/full'], {}, 'cannot write /dev/full: the disk is full; free some space'],
    [[], { DATABASE_URL: 'sqlite:.' }, 'cannot open sqlite:FOLDER: it is a directory'],
  ] as const) {
    it(`reports in one line, with exit code 1: ${problem}`, async () => {
      const database = { ...folder.newDatabase(), ...settings };
      const { exitCode, stderr } = await folder.run(['import', ...args], database, BAD);
      expect(exitCode).to.equal(1);
      expect(problemsIn(stderr)).to.deep.equal([`plant-store: ${problem.replace('FOLDER', folder.path)}`]);
    });
  }

  it('because --rejects would overwrite the input, leaves the input unchanged', async () => {
    const file = folder.newFile(BAD);
    const { stderr } = await folder.run(['import', file, '--rejects', `./${file}`], folder.newDatabase());
    expect(problemsIn(stderr).join()).to.match(/^plant-store: .*would overwrite the input/);
    expect(readFileSync(join(folder.path, file), 'utf8')).to.equal(BAD);
  });

  it('because the storage becomes unavailable, completes when repeated', async () => {
    const database = folder.newDatabase();
    const program = plantStore(folder.path, ['import'], { ...database, STORAGE_TIMEOUT: '5s' });
    program.type(`${plantLines(1, 3999)}no JSON\n`);
    await program.waitForOutput(/"line":4000,/);
    const file = await SqliteFile.open(folder.fileOf(database));
    await file.exec('BEGIN IMMEDIATE');
    expect(await program.result(plantLines(4000, 12_000))).to.have.property('exitCode', 1);
    await file.exec('ROLLBACK');
    await file.close();
    expect(problemsIn(program.stderr).join()).to.match(/^plant-store: .*the storage (did not respond|is unavailable)/);
    expect(program.stderr).to.match(/^3999 plants created, 0 already stored, 1 line rejected$/m);

    const again = await folder.run(['import'], database, plantLines(1, 15_999));
    expect(again.stderr).to.equal('12000 plants created, 3999 already stored, 0 lines rejected\n');
  });
});
