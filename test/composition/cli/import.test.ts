import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { runInProcess } from './in-process.js';

const PLANTS = '{"id":-9223372036854775808,"name":"","tag":"a "}\n{"id":9223372036854775807,"name":"é"}\n';

describe('import', () => {
  const folder = new CommandFolder();
  const run = (args: readonly string[], environment: Readonly<Record<string, string>>, input = PLANTS) =>
    runInProcess(folder.path, args, environment, input);

  it('reads a file or standard input; repeated, it counts every plant as already stored', async () => {
    for (const source of [[folder.newFile(PLANTS)], ['-'], []]) {
      const database = folder.newDatabase();
      for (const counts of ['2 plants created, 0 already stored', '0 plants created, 2 already stored']) {
        const stderr = `${counts}, 0 lines rejected\n`;
        expect(await run(['import', ...source], database)).to.deep.equal({ exitCode: 0, stdout: '', stderr });
      }
      expect((await run(['export'], database)).stdout).to.equal(PLANTS);
    }
  });

  it('writes rejected lines to standard output, stores the others, and exits with 1', async () => {
    const environment = { DATABASE_URL: 'memory:', BODY_LIMIT: '64kb' };
    const lines = ['{"id":1,"name":"a"}', `{"id":2,"name":"${'x'.repeat(70_000)}"}`];
    const { exitCode, stdout, stderr } = await run(['import'], environment, lines.join('\n'));
    expect(stderr).to.equal('1 plant created, 0 already stored, 1 line rejected\n');
    expect(exitCode).to.equal(1);
    expect(stdout).to.equal('{"line":2,"error":41301,"message":"The line is larger than 65536 bytes"}\n');
  });

  it('validates with the description, which a plugin may change', async () => {
    const makeStrict = `(_, description) => {
      Object.assign(description.components.schemas.NewPlant, { type: 'object', unevaluatedProperties: false });
      return description;
    }`;
    const strict = `export default (container) => container.onActivation(Symbol.for('plant-store:Description'), ${makeStrict});`;
    const environment = { DATABASE_URL: 'memory:', PLUGINS: `./${folder.newFile(strict, 'mjs')}` };
    const { stdout } = await run(['import'], environment, '{"id":1,"name":"a"}\n{"id":2,"name":"a","tags":"b"}');
    expect(JSON.parse(stdout)).to.include({ line: 2, error: 40002 });
  });

  it('exits with 1 and a hint if the input has another format', async () => {
    const stderr = 'plant-store: the input is a JSON array; write one object per line, without commas\n';
    expect(await run(['import'], { DATABASE_URL: 'memory:' }, '[]')).to.deep.equal({ exitCode: 1, stdout: '', stderr });
  });

  it('exits with 1 and names the reason if it cannot read its file', async () => {
    for (const [file, reason] of [
      ['none.ndjson', "ENOENT: no such file or directory, open 'none.ndjson'"],
      ['.', 'EISDIR: illegal operation on a directory, read'],
    ] as const) {
      const stderr = `plant-store: ${reason}\n`;
      expect(await run(['import', file], { DATABASE_URL: 'memory:' })).to.deep.equal({
        exitCode: 1,
        stdout: '',
        stderr,
      });
    }
  });
});
