import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toLines } from '../support/client.js';
import { CommandFolder, plantLines } from '../support/command-folder.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { Executable } from '../support/executable.js';
import { testOrSoak } from '../support/soak.js';
import { SqliteFile } from '../support/sqlite-file.js';

for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
  describe(`An interrupted import into ${engine.name}`, () => {
    const folder = new CommandFolder();
    const stores = engine.stores();
    const newStore = async () => ({ DATABASE_URL: (await stores.create()).url });

    const ALL = plantLines(1, 20_000);

    /** Starts an import that has stored 4,000 plants and has the rest on its standard input. */
    async function startImport(database: Readonly<Record<string, string>>): Promise<Executable> {
      const program = new Executable(folder.path, ['import'], database);
      program.process.stdin?.on('error', () => {});
      const lines = toLines(ALL);
      program.type(`${lines.slice(0, 4000).join('\n')}\nno JSON\n${lines.slice(4000).join('\n')}\n`);
      await program.waitForOutput(/"line":4001,/);
      return program;
    }

    /** Runs the whole import again and returns the number of plants that were already stored. */
    async function repeatImport(database: { readonly DATABASE_URL: string }): Promise<number> {
      const { exitCode, stderr } = await folder.run(['import'], database, ALL);
      expect(exitCode).to.equal(0);
      const [created = 0, stored = 0] =
        /^(\d+) plants created, (\d+) already stored, 0 lines rejected\n$/.exec(stderr)?.slice(1).map(Number) ?? [];
      expect(created + stored, stderr).to.equal(20_000);
      const exported = await folder.run(['export'], database);
      expect(exported.stdout === ALL, 'the export is the text that was imported').to.equal(true);
      return stored;
    }

    for (const round of Array.from({ length: testOrSoak(1, 3) }, (_, index) => index + 1)) {
      it(`completes when repeated after kill -9 (round ${round})`, async () => {
        const database = await newStore();
        const program = await startImport(database);
        expect(await program.kill('SIGKILL').exited()).to.equal('SIGKILL');
        expect(await repeatImport(database)).to.be.within(4000, 20_000);
      });
    }

    for (const [signal, exitCode] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      it(`on ${signal} finishes its batch, prints a summary, exits with ${exitCode}, and completes when repeated`, async () => {
        const database = await newStore();
        const program = await startImport(database);
        expect(await program.kill(signal).exited()).to.equal(exitCode);
        const [count] = await program.waitForOutput(/^\d+(?= plants created)/m);
        expect(program.stderr).to.match(
          /\n\d+ plants created, 0 already stored, 1 line rejected\ninterrupted; run the same import again to continue\n$/,
        );
        expect(await repeatImport(database), 'the count in the summary').to.equal(Number(count));
      });
    }
  });
}

describe('An import reports in one line, with exit code 1,', () => {
  const folder = new CommandFolder();
  const text = '{"id":9223372036854775807,"name":"é"}\n{"id":-9223372036854775808,"name":"","tag":"a "}\n';
  const BAD = '{"id":1,"name":"a"}\nno JSON\n{"id":1,"name":"b"}\n{"id":2,"name":"c"}\n';

  const expectOneLine = (stderr: string, reason: RegExp) => {
    const problems = toLines(stderr).filter((line) => !/^\d+ plants created|^\{/.test(line));
    expect(problems, stderr).to.have.lengthOf(1);
    expect(problems[0])
      .to.match(reason)
      .and.to.match(/^plant-store: /);
  };

  for (const [what, args, reason] of [
    [
      'a missing file',
      ['import', 'no-such-file'],
      /cannot open no-such-file: no such file or directory; check the path$/,
    ],
    ['that the file is a folder', ['import', '.'], /cannot read \.: it is a directory; name a file in it$/],
    [
      'a --rejects file that it cannot create',
      ['import', '--rejects', 'no/such/folder'],
      /cannot open no\/such\/folder: no such file or directory; check the path$/,
    ],
    [
      'a --rejects file on a full disk',
      ['import', '--rejects', '/dev/full'],
      /cannot write \/dev\/full: the disk is full; free some space$/,
    ],
  ] as const) {
    it(what, async () => {
      const { exitCode, stderr } = await folder.run(args, folder.newDatabase(), BAD);
      expect(exitCode).to.equal(1);
      expectOneLine(stderr, reason);
    });
  }

  it('that --rejects would overwrite the input, and leaves the input unchanged', async () => {
    const file = folder.newFile(BAD);
    const { exitCode, stderr } = await folder.run(['import', file, '--rejects', `./${file}`], folder.newDatabase());
    expect(exitCode).to.equal(1);
    expectOneLine(stderr, /would overwrite the input/);
    expect(readFileSync(join(folder.path, file), 'utf8')).to.equal(BAD);
  });

  it('a database that it cannot open', async () => {
    const { exitCode, stderr } = await folder.run(['import'], { DATABASE_URL: 'sqlite:.' }, text);
    expect(exitCode).to.equal(1);
    expectOneLine(stderr, /cannot open sqlite:.*: it is a directory$/);
  });

  it('storage that becomes unavailable, and completes when repeated', async () => {
    const database = folder.newDatabase();
    const program = new Executable(folder.path, ['import'], { ...database, STORAGE_TIMEOUT: '1s' });
    program.type(`${plantLines(1, 3999)}no JSON\n`);
    await program.waitForOutput(/"line":4000,/);
    const file = await SqliteFile.open(folder.fileOf(database));
    await file.exec('BEGIN IMMEDIATE');
    program.process.stdin?.end(plantLines(4000, 12_000));
    expect(await program.exited()).to.equal(1);
    await file.exec('ROLLBACK');
    await file.close();
    expectOneLine(program.stderr, /the storage is unavailable/);
    expect(program.stderr).to.match(/^3999 plants created, 0 already stored, 1 line rejected$/m);

    const again = await folder.run(['import'], database, plantLines(1, 15_999));
    expect(again.stderr).to.equal('12000 plants created, 3999 already stored, 0 lines rejected\n');
  });
});
