import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { JsonPlantCodec } from '@plant-store/adapters/api';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { exportPlants, importPlants } from '@plant-store/adapters/ndjson';
import { CreatePlants, ReadPlants, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { plantLines } from '../../../support/plants.js';

const codec = new JsonPlantCodec();
const BODY_LIMIT_BYTES = 200_000;

/** Imports bytes into a repository; `error` is that of the input after them. */
async function importBytes(repository: MemoryPlantRepository, bytes: Iterable<Uint8Array>, error?: Error) {
  async function* chunks() {
    yield* bytes;
    if (error) throw error;
  }
  const rejects: object[] = [];
  const result = await importPlants(chunks(), {
    createPlants: new CreatePlants(repository),
    codec,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    // The import waits for it.
    onReject: async (line) => {
      await new Promise(setImmediate);
      rejects.push(line);
    },
  });
  return { result, rejects };
}

/** Imports NDJSON, and returns the summary. */
async function importInto(repository: MemoryPlantRepository, text: string, error?: Error) {
  const { result, rejects } = await importBytes(repository, [Buffer.from(text)], error);
  if (result.kind !== 'imported') throw new Error(result.hint);
  return { summary: result, rejects };
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
      ['null', 40002, 'The JSON value must be an object'],
      [`{"id":2,"name":"${'a'.repeat(200_000)}"}`, 41301, 'The line is larger than 200000 bytes'],
    ] as const;
    const repository = new MemoryPlantRepository();
    const bad = rejected.map(([line]) => `${line}\n`).join('');
    const input = `${plantLines(1, 4000)}${bad}${plantLines(5000, 1200)}no JSON\n`;
    const { summary, rejects } = await importInto(repository, input);
    expect(summary).to.include({ created: 5200, alreadyStored: 0, rejected: 7 });
    expect(rejects).to.deep.equal([
      ...rejected.map(([_, error, message], index) => ({ line: 4001 + index, error, message })),
      { line: 5207, error: 40001, message: 'The input is not valid JSON' },
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

  it('ignores blank lines, and counts them in line numbers', async () => {
    const text = '\ufeff\r\n \t\r\n{"id":1,"name":"a"}\r\n\r\n\nno JSON\n\n';
    const { summary, rejects } = await importInto(new MemoryPlantRepository(), text);
    expect(summary).to.include({ created: 1, alreadyStored: 0, rejected: 1 });
    expect(rejects).to.deep.equal([{ line: 6, error: 40001, message: 'The input is not valid JSON' }]);
  });

  it('reads the export of a plant whose body had exactly the maximum size, and no longer line', async () => {
    for (const [short, long] of [
      ['1e18', '1000000000000000000'],
      ['-9e18', '-9000000000000000000'],
    ] as const) {
      const toLine = (id: string, name: string) => `{"id":${id},"name":"${name}"}`;
      const name = 'x'.repeat(BODY_LIMIT_BYTES - toLine(short, '').length);
      const from = new MemoryPlantRepository();
      await importInto(from, toLine(short, name));
      const exported = await readLines(from);
      expect(exported).to.equal(`${toLine(long, name)}\n`);
      const { summary, rejects } = await importInto(from, `${exported}${toLine(`${long} `, name)}`);
      expect(summary).to.include({ alreadyStored: 1, rejected: 1 });
      expect(rejects).to.deep.equal([{ line: 2, error: 41301, message: 'The line is larger than 200000 bytes' }]);
    }
  });

  const LINE = '{"id":1,"name":"a"}';
  const COMPRESSED = 'the input is compressed or UTF-16; decompress it, or convert it to UTF-8';
  const ARRAY = 'the input is a JSON array; write one object per line, without commas';
  for (const { title, bytes, hint } of [
    { title: 'gives one hint for gzip', bytes: gzipSync(LINE), hint: COMPRESSED },
    { title: 'gives one hint for zip', bytes: Buffer.from('PK\u0003\u0004'), hint: COMPRESSED },
    { title: 'gives one hint for 7z', bytes: Buffer.from('377abcaf271c', 'hex'), hint: COMPRESSED },
    { title: 'gives one hint for zstd', bytes: Buffer.from('28b52ffd', 'hex'), hint: COMPRESSED },
    { title: 'gives one hint for UTF-16 LE', bytes: Buffer.from(`\ufeff${LINE}`, 'utf16le'), hint: COMPRESSED },
    {
      title: 'gives one hint for UTF-16 BE',
      bytes: Buffer.from(`\ufeff${LINE}`, 'utf16le').swap16(),
      hint: COMPRESSED,
    },
    {
      title: 'gives one hint for UTF-16 without a byte order mark',
      bytes: Buffer.from(LINE, 'utf16le'),
      hint: COMPRESSED,
    },
    { title: 'gives one hint for a JSON array', bytes: Buffer.from(`[${LINE}]`), hint: ARRAY },
    { title: 'gives one hint for a JSON array over lines', bytes: Buffer.from(`\ufeff\n[\n${LINE}\n]`), hint: ARRAY },
  ]) {
    it(title, async () => {
      const repository = new MemoryPlantRepository();
      // As a pipe may deliver it: after a chunk of white space.
      const { result, rejects } = await importBytes(repository, [Buffer.from('\n'), bytes]);
      expect([result, rejects]).to.deep.equal([{ kind: 'not-ndjson', hint }, []]);
      expect(await readLines(repository)).to.equal('');
    });
  }

  it('takes no letter at the start of a line for another format', async () => {
    for (const key of ['Öl', 'Étage', 'ряд', '日']) {
      const { summary } = await importInto(new MemoryPlantRepository(), `{"${key}":1,"id":1,"name":"a"}\n`);
      expect(summary.created, key).to.equal(1);
    }
  });

  it('reports a plant that a decorator declines, and throws if one returns too few outcomes', async () => {
    const declining = { kind: 'declined', error: { error: 40301, message: 'No cacti' } } as const;
    const rejects: object[] = [];
    const importWith = (outcomes: readonly (typeof declining)[]) =>
      importPlants(Readable.from([Buffer.from(plantLines(1, 2))]), {
        createPlants: { execute: async () => outcomes },
        codec,
        bodyLimitBytes: BODY_LIMIT_BYTES,
        onReject: (line) => void rejects.push(line),
      });
    expect(await importWith([declining, declining])).to.include({ created: 0, rejected: 2 });
    expect(rejects[0]).to.deep.equal({ line: 1, error: 40301, message: 'No cacti' });
    expect(await catchError(importWith([declining]))).to.be.instanceOf(TypeError);
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
