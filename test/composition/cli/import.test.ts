import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { toLines } from '../../support/client.js';
import { CommandFolder, plantLines } from '../../support/command-folder.js';
import { plantStore } from '../../support/executable.js';
import { readSqlitePlants } from '../../support/sqlite-file.js';

describe('plant-store import', () => {
  const folder = new CommandFolder();

  const text = '{"id":9223372036854775807,"name":"é"}\n{"id":-9223372036854775808,"name":"","tag":"a "}\n';
  const expected = [
    { id: -9223372036854775808n, name: '', tag: 'a ' },
    { id: 9223372036854775807n, name: 'é' },
  ];

  it('imports a file, prints a summary, and exits with 0', async () => {
    const database = folder.newDatabase();
    const result = await folder.run(['import', folder.newFile(text)], database);
    expect(result).to.deep.equal({
      exitCode: 0,
      stdout: '',
      stderr: '2 plants created, 0 already stored, 0 lines rejected\n',
    });
    expect(await readSqlitePlants(folder.fileOf(database))).to.deep.equal(expected);
  });

  for (const args of [['import'], ['import', '-']]) {
    it(`imports standard input (${args.join(' ')})`, async () => {
      const database = folder.newDatabase();
      expect((await folder.run(args, database, text)).exitCode).to.equal(0);
      expect(await readSqlitePlants(folder.fileOf(database))).to.deep.equal(expected);
    });
  }

  it('exits with 0 when it is repeated, and counts every plant as already stored', async () => {
    const database = folder.newDatabase();
    const file = folder.newFile(text);
    await folder.run(['import', file], database);
    const { exitCode, stderr } = await folder.run(['import', file], database);
    expect(exitCode).to.equal(0);
    expect(stderr).to.equal('0 plants created, 2 already stored, 0 lines rejected\n');
  });

  const BAD = `{"id":1,"name":"a"}\nno JSON\n{"id":1,"name":"b"}\n{"id":2,"name":"${'x'.repeat(70_000)}"}\n{"id":3,"name":"c"}\n`;
  const REJECTED = [
    { line: 2, error: 40001, message: 'The text is not valid JSON' },
    { line: 3, error: 40901, message: 'id belongs to a different plant' },
    { line: 4, error: 41301, message: 'The line is larger than 65536 bytes' },
  ];
  const BODY_LIMIT = '64kb';

  it('reports rejected lines on stderr and the summary as JSON, stores the other lines, and exits with 1', async () => {
    const database = folder.newDatabase();
    const { exitCode, stdout, stderr } = await folder.run(['import', '--json'], { ...database, BODY_LIMIT }, BAD);
    expect(exitCode).to.equal(1);
    expect(JSON.parse(stdout)).to.deep.equal({ created: 2, alreadyStored: 0, rejected: 3 });
    expect(toLines(stderr).map((line) => JSON.parse(line))).to.deep.equal(REJECTED);
    expect((await readSqlitePlants(folder.fileOf(database))).map(({ name }) => name)).to.deep.equal(['a', 'c']);
  });

  it('writes the rejected lines to --rejects FILE', async () => {
    const rejects = folder.newName('rejects');
    const args = ['import', folder.newFile(BAD), '--rejects', rejects];
    const { exitCode, stderr } = await folder.run(args, { ...folder.newDatabase(), BODY_LIMIT });
    expect(exitCode).to.equal(1);
    expect(stderr).to.equal('2 plants created, 0 already stored, 3 lines rejected\n');
    const lines = toLines(readFileSync(join(folder.path, rejects), 'utf8'));
    expect(lines.map((line) => JSON.parse(line))).to.deep.equal(REJECTED);
  });

  it('fails if standard input is a directory', async () => {
    expect(await folder.shell('exec $PLANT_STORE import < .', folder.newDatabase())).to.deep.equal({
      exitCode: 1,
      stdout: '',
      stderr: 'plant-store: cannot read standard input: it is a directory; name a file in it\n',
    });
  });

  it('exits at once on SIGINT while it waits for standard input', async () => {
    const database = folder.newDatabase();
    const program = plantStore(folder.path, ['import'], database);
    program.type(`${plantLines(1, 3999)}no JSON\n`);
    await program.waitForOutput(/"line":4000,/);
    program.type(plantLines(5000, 10));
    expect(await program.kill('SIGINT').exited()).to.equal(130);
    expect(program.stderr)
      .to.match(/^3999 plants created/m)
      .and.to.match(/interrupted; run the same import again/);
    expect(await readSqlitePlants(folder.fileOf(database))).to.have.lengthOf(3999);
  });
});
