import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/driven/memory/index.js';
import { JsonPlantCodec } from '../../../../adapters/driving/api/index.js';
import { exportPlants, importPlants } from '../../../../adapters/driving/ndjson/index.js';
import { CreatePlant, ReadPlants, StorageUnavailable } from '../../../../core/index.js';
import { catchError } from '../../../support/catch-error.js';
import { plantLines } from '../../../support/plants.js';

const codec = new JsonPlantCodec();

/** Imports a text into a repository; `error` is that of the input after it. */
async function importInto(repository: MemoryPlantRepository, text: string, error?: Error) {
  async function* chunks() {
    yield Buffer.from(text);
    if (error) throw error;
  }
  const rejects: object[] = [];
  const summary = await importPlants(chunks(), {
    createPlants: new CreatePlant(repository),
    codec,
    maxLineBytes: 200_000,
    // The import waits for it.
    onReject: async (line) => {
      await new Promise(setImmediate);
      rejects.push(line);
    },
  });
  return { summary, rejects };
}

/** Reads the stored plants as NDJSON. */
async function readLines(repository: MemoryPlantRepository): Promise<string> {
  let text = '';
  for await (const chunk of exportPlants(new ReadPlants(repository), codec)) text += chunk;
  return text;
}

describe('importPlants', () => {
  it('reports each rejected line in order, with its number and its error, and stores the others', async () => {
    const rejected = [
      ['no JSON', 40001, 'The input is not valid JSON'],
      ['{"id":1,"name":"another"}', 40901, 'id belongs to a different plant'],
      ['[]', 40002, 'The JSON value must be an object'],
      ['{"id":2,"name":"a\\u0000"}', 40003, 'name must not contain U+0000 or a lone surrogate'],
      ['', 40001, 'The input is empty'],
      ['\r', 40001, 'The input is not valid JSON'],
      [`{"id":2,"name":"${'a'.repeat(200_000)}"}`, 41301, 'The line is larger than 200000 bytes'],
    ] as const;
    const repository = new MemoryPlantRepository();
    const bad = rejected.map(([line]) => `${line}\n`).join('');
    const input = `${plantLines(1, 4000)}${bad}${plantLines(5000, 1200)}no JSON\n`;
    const { summary, rejects } = await importInto(repository, input);
    expect(summary).to.include({ created: 5200, alreadyStored: 0, rejected: 8 });
    expect(rejects).to.deep.equal([
      ...rejected.map(([_, error, message], index) => ({ line: 4001 + index, error, message })),
      { line: 5208, error: 40001, message: 'The input is not valid JSON' },
    ]);
    expect(await readLines(repository)).to.equal(plantLines(1, 4000) + plantLines(5000, 1200));
  });

  it('counts identical plants as already stored, including duplicate lines', async () => {
    const repository = new MemoryPlantRepository();
    await importInto(repository, '{"id":1,"name":"a","tag":"t"}\n');
    const again = await importInto(
      repository,
      '{"tag":"t", "name":"\\u0061", "id":1.0, "more":true}\n{"id":2,"name":"b"}\n{"id":2,"name":"b"}\n',
    );
    expect(again.summary).to.include({ created: 1, alreadyStored: 2, rejected: 0 });
    expect(again.rejects).to.deep.equal([]);
  });

  it('accepts CR LF, a byte order mark, and a last line without a line feed', async () => {
    const repository = new MemoryPlantRepository();
    const { summary } = await importInto(
      repository,
      '\ufeff{"id":1,"name":"a"}\r\n{"id":2,"name":"b"}\r\n{"id":3,"name":"c"}',
    );
    expect(summary).to.include({ created: 3, rejected: 0 });
    expect(await readLines(repository)).to.equal('{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n{"id":3,"name":"c"}\n');
  });

  it('throws the error of its input, and keeps the stored plants, so that it can be run again', async () => {
    const text = plantLines(1, 20_000);
    const repository = new MemoryPlantRepository();
    const error = new Error('read failed');
    expect(await catchError(importInto(repository, text, error))).to.equal(error);
    const { summary } = await importInto(repository, text);
    expect(summary.alreadyStored).to.be.above(4000);
    expect(summary.created + summary.alreadyStored).to.equal(20_000);
    expect(await readLines(repository)).to.equal(text);
  });

  it('throws StorageUnavailable when the storage becomes unavailable, even in the last batch', async () => {
    const repository = new MemoryPlantRepository();
    await repository.close();
    for (const lines of [1, 20_000])
      expect(await catchError(importInto(repository, plantLines(1, lines)))).to.be.instanceOf(StorageUnavailable);
  });
});
