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
const TOO_LONG = 'The line is larger than 200000 bytes';

type UseCase = Parameters<typeof importPlants>[1]['createPlants'];

/** Imports chunks, and returns the result and the rejected lines. `error` is that of the input after them. */
async function importChunks(createPlants: UseCase, chunks: Iterable<string | Uint8Array>, error?: Error) {
  async function* input() {
    for (const chunk of chunks) yield Buffer.from(chunk);
    if (error) throw error;
  }
  const rejects: object[] = [];
  // The import waits for it.
  const onReject = async (line: object) => {
    await new Promise(setImmediate);
    rejects.push(line);
  };
  const result = await importPlants(input(), { createPlants, codec, bodyLimitBytes: BODY_LIMIT_BYTES, onReject });
  return { result, rejects };
}

const importInto = (repository: MemoryPlantRepository, text: string, error?: Error) =>
  importChunks(new CreatePlants(repository), [text], error);

/** Reads the stored plants as NDJSON. */
async function readLines(repository: MemoryPlantRepository): Promise<string> {
  return (await Readable.from(exportPlants(new ReadPlants(repository), codec)).toArray()).join('');
}

describe('importPlants', () => {
  it('reports each rejected line in order, with its number and its error, and stores the others', async () => {
    const rejected = [
      ['no JSON', 40001, 'The input is not valid JSON'],
      ['{"id":1,"name":"another"}', 40901, 'id belongs to a different plant'],
      ['{"id":2,"name":"a\\u0000"}', 40003, 'name must not contain U+0000 or a lone surrogate'],
      ['[]', 40002, 'The JSON value must be an object'],
      [`{"id":2,"name":"${'a'.repeat(200_000)}"}`, 41301, TOO_LONG],
    ] as const;
    const repository = new MemoryPlantRepository();
    const bad = rejected.map(([line]) => `${line}\n`).join('');
    const input = `${plantLines(1, 4000)}${bad}${plantLines(5000, 1200)}no JSON\n`;
    const { result, rejects } = await importInto(repository, input);
    expect(result).to.deep.equal({ kind: 'imported', created: 5200, alreadyStored: 0, rejected: 6 });
    expect(rejects).to.deep.equal([
      ...rejected.map(([_, error, message], index) => ({ line: 4001 + index, error, message })),
      { line: 5206, error: 40001, message: 'The input is not valid JSON' },
    ]);
    expect(await readLines(repository)).to.equal(plantLines(1, 4000) + plantLines(5000, 1200));
  });

  it('counts identical plants as already stored, including duplicate lines', async () => {
    const repository = new MemoryPlantRepository();
    await importInto(repository, '{"id":1,"name":"a","tag":"t"}\n');
    const again = '{"tag":"t", "name":"\\u0061", "id":1.0, "more":true}\n{"id":2,"name":"b"}\n{"id":2,"name":"b"}';
    const { result } = await importInto(repository, again);
    expect(result).to.include({ created: 1, alreadyStored: 2, rejected: 0 });
  });

  it('accepts a byte order mark, CR LF and no last line feed, and ignores blank lines but counts them', async () => {
    const text = '\ufeff\r\n \t\r\n{"id":1,"name":"a"}\r\n\r\n\nno JSON\n\n{"id":2,"name":"b"}';
    const { result, rejects } = await importInto(new MemoryPlantRepository(), text);
    expect(result).to.include({ created: 2, alreadyStored: 0, rejected: 1 });
    expect(rejects).to.deep.equal([{ line: 6, error: 40001, message: 'The input is not valid JSON' }]);
  });

  it('reads the export of a plant whose body had exactly the maximum size, and no longer line', async () => {
    const toLine = (id: string, name: string) => `{"id":${id},"name":"${name}"}`;
    const name = 'x'.repeat(BODY_LIMIT_BYTES - toLine('-9e18', '').length);
    const repository = new MemoryPlantRepository();
    await importInto(repository, `${toLine('-9e18', name)}\n${toLine('1e18', `${name}x`)}`);
    const exported = await readLines(repository);
    const longest = ['-9000000000000000000', '1000000000000000000'] as const;
    expect(exported).to.equal(`${toLine(longest[0], name)}\n${toLine(longest[1], `${name}x`)}\n`);
    const { result, rejects } = await importInto(repository, `${exported}${toLine(longest[1], `${name}xx`)}`);
    expect(result).to.include({ alreadyStored: 2, rejected: 1 });
    expect(rejects).to.deep.equal([{ line: 3, error: 41301, message: TOO_LONG }]);
  });

  const LINE = '{"id":1,"name":"a"}';
  const COMPRESSED = 'the input is compressed or UTF-16; decompress it, or convert it to UTF-8';
  const ARRAY = 'the input is a JSON array; write one object per line, without commas';
  const utf16 = Buffer.from(`\ufeff${LINE}`, 'utf16le');
  for (const { title, bytes, hint } of [
    { title: 'gives one hint for gzip', bytes: gzipSync(LINE), hint: COMPRESSED },
    { title: 'gives one hint for zip', bytes: Buffer.from('PK\u0003\u0004'), hint: COMPRESSED },
    { title: 'gives one hint for 7z', bytes: Buffer.from('377abcaf271c', 'hex'), hint: COMPRESSED },
    { title: 'gives one hint for zstd', bytes: Buffer.from('28b52ffd', 'hex'), hint: COMPRESSED },
    { title: 'gives one hint for UTF-16 LE', bytes: utf16, hint: COMPRESSED },
    { title: 'gives one hint for UTF-16 BE', bytes: Buffer.from(utf16).swap16(), hint: COMPRESSED },
    { title: 'gives one hint for UTF-16 without a byte order mark', bytes: utf16.subarray(2), hint: COMPRESSED },
    { title: 'gives one hint for a JSON array', bytes: Buffer.from(`[${LINE}]`), hint: ARRAY },
    { title: 'gives one hint for a JSON array over lines', bytes: Buffer.from(`\ufeff\n[\n${LINE}\n]`), hint: ARRAY },
  ]) {
    it(title, async () => {
      const repository = new MemoryPlantRepository();
      // As a pipe may deliver it: after a chunk of white space.
      const { result, rejects } = await importChunks(new CreatePlants(repository), ['\n', bytes]);
      expect([result, rejects]).to.deep.equal([{ kind: 'not-ndjson', hint }, []]);
      expect(await readLines(repository)).to.equal('');
    });
  }

  it('takes no letter at the start of a line for another format', async () => {
    for (const key of ['Öl', 'Étage', 'ряд', '日']) {
      const { result } = await importInto(new MemoryPlantRepository(), `{"${key}":1,"id":1,"name":"a"}\n`);
      expect(result, key).to.include({ created: 1 });
    }
  });

  it('reports a plant that a decorator declines, and throws if one returns too few outcomes', async () => {
    const declined = { kind: 'declined', error: { error: 40301, message: 'No cacti' } } as const;
    const importWith = (...outcomes: readonly (typeof declined)[]) =>
      importChunks({ execute: async () => outcomes }, [plantLines(1, 2)]);
    const { result, rejects } = await importWith(declined, declined);
    expect(result).to.include({ created: 0, rejected: 2 });
    expect(rejects[0]).to.deep.equal({ line: 1, error: 40301, message: 'No cacti' });
    expect(await catchError(importWith(declined))).to.be.instanceOf(TypeError);
  });

  it('throws the error of its input, and keeps the stored plants, so that it can be run again', async () => {
    const text = plantLines(1, 20_000);
    const repository = new MemoryPlantRepository();
    const error = new Error('read failed');
    expect(await catchError(importInto(repository, text, error))).to.equal(error);
    const stored = (await readLines(repository)).split('\n').length - 1;
    expect(stored).to.be.above(4000);
    const { result } = await importInto(repository, text);
    expect(result).to.include({ created: 20_000 - stored, alreadyStored: stored });
    expect(await readLines(repository)).to.equal(text);
  });

  it('throws StorageUnavailable when the storage becomes unavailable, even in the last batch', async () => {
    const repository = new MemoryPlantRepository();
    await repository.close();
    for (const lines of [1, 20_000])
      expect(await catchError(importInto(repository, plantLines(1, lines)))).to.be.instanceOf(StorageUnavailable);
  });
});
