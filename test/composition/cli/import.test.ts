import { readdirSync } from 'node:fs';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';

const PLANTS = '{"id":-9223372036854775808,"name":"","tag":"a "}\n{"id":9223372036854775807,"name":"é"}\n';
const IN_MEMORY = { DATABASE_URL: 'memory:' };

describe('import', () => {
  const folder = new CommandFolder();

  it('reads a file or standard input; repeated, it counts every plant as already stored', async () => {
    const database = folder.newDatabase();
    for (const [args, counts] of [
      [['import', folder.newFile(PLANTS)], '2 plants created, 0 already stored'],
      [['import', '-'], '0 plants created, 2 already stored'],
      [['import'], '0 plants created, 2 already stored'],
    ] as const) {
      const stderr = `${counts}, 0 lines rejected\n`;
      expect(await folder.run(args, database, PLANTS)).to.deep.equal({ exitCode: 0, stdout: '', stderr });
    }
    // A storage that is not closed leaves two more files.
    expect(readdirSync(folder.path)).to.have.members(['1.db', '2.ndjson']);
    expect((await folder.run(['export'], database)).stdout).to.equal(PLANTS);
  });

  it('writes rejected lines to standard output, stores the others, and exits with 1', async () => {
    const lines = `{"id":1,"name":"a"}\n{"id":2,"name":"${'x'.repeat(70_000)}"}`;
    expect(await folder.run(['import'], { BODY_LIMIT: '64kb', ...IN_MEMORY }, lines)).to.deep.equal({
      exitCode: 1,
      stdout: '{"line":2,"error":41301,"message":"The line is larger than 65536 bytes"}\n',
      stderr: '1 plant created, 0 already stored, 1 line rejected\n',
    });
  });

  it('exits with 1 and names the reason if it cannot read the input', async () => {
    for (const [args, input, reason] of [
      [['import'], '[]', 'the input is a JSON array; write one object per line, without commas'],
      [['import', 'none.ndjson'], '', "ENOENT: no such file or directory, open 'none.ndjson'"],
      [['import', '.'], '', 'EISDIR: illegal operation on a directory, read'],
    ] as const) {
      const stderr = `plant-store: ${reason}\n`;
      expect(await folder.run(args, IN_MEMORY, input)).to.deep.equal({ exitCode: 1, stdout: '', stderr });
    }
  });
});
