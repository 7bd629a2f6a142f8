import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { type Declined, JsonPlantCodec } from '@plant-store/adapters/api';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { exportPlants, importPlants } from '@plant-store/adapters/ndjson';
import { CreatePlants, type CreatePlantsUseCase, ReadPlants, StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { catchError } from '../../../support/catch-error.js';
import { plantLines } from '../../../support/plants.js';

const LIMIT = 200_000;
const NOT_JSON = { error: 40001, message: 'The input is not valid JSON' };
const TOO_LONG = { error: 41301, message: 'The line is larger than 200000 bytes' };

describe('importPlants', () => {
  const codec = new JsonPlantCodec();
  let repository: MemoryPlantRepository;
  let createPlants: CreatePlantsUseCase<Declined>;
  let rejects: object[];
  beforeEach(() => {
    repository = new MemoryPlantRepository();
    createPlants = new CreatePlants(repository);
    rejects = [];
  });

  /** Imports chunks; an error is one of the input. */
  function importFrom(...chunks: readonly (string | Uint8Array | Error)[]) {
    async function* input() {
      for (const chunk of chunks) {
        if (chunk instanceof Error) throw chunk;
        yield Buffer.from(chunk);
      }
    }
    const onReject = async (line: object) => {
      await setImmediate();
      rejects.push(line);
    };
    return importPlants(input(), { createPlants, codec, bodyLimitBytes: LIMIT, onReject });
  }

  const exported = async () =>
    (await Readable.from(exportPlants(new ReadPlants(repository), codec)).toArray()).join('');

  it('stores the lines, and reports each rejected one in order, with its number and its error', async () => {
    const others = [
      'not JSON',
      '{"id":1,"name":"another"}',
      '{"id":2,"name":"a\\u0000"}',
      '[]',
      // The id of an exported plant may be 15 characters longer than that in its body: 1e18.
      '{"id":3,"name":"a"}'.padEnd(LIMIT + 16),
      '{"name":"\\u0070lant 4", "id":4.0, "more":true}'.padEnd(LIMIT + 15),
    ];
    const text = `${plantLines(1, 4000)}${others.join('\n')}\n${plantLines(5000, 1200)}not JSON\n`;
    expect(await importFrom(text)).to.deep.equal({ kind: 'imported', created: 5200, alreadyStored: 1, rejected: 6 });
    expect(rejects).to.deep.equal([
      { line: 4001, ...NOT_JSON },
      { line: 4002, error: 40901, message: 'id belongs to a different plant' },
      { line: 4003, error: 40003, message: 'name must not contain U+0000 or a lone surrogate' },
      { line: 4004, error: 40002, message: 'The JSON value must be an object' },
      { line: 4005, ...TOO_LONG },
      { line: 5207, ...NOT_JSON },
    ]);
    expect(await exported()).to.equal(plantLines(1, 4000) + plantLines(5000, 1200));
  });

  it('accepts a byte order mark, CR LF and no last line feed, and ignores blank lines but counts them', async () => {
    const text = '\ufeff\r\n \t\r\n{"id":1,"name":"a"}\r\n\r\n\nnot JSON\n\n{"id":2,"name":"b"}';
    expect(await importFrom(text)).to.include({ created: 2, alreadyStored: 0, rejected: 1 });
    expect(rejects).to.deep.equal([{ line: 6, ...NOT_JSON }]);
  });

  it('gives a hint for another format, and imports nothing', async () => {
    const line = '{"id":1,"name":"a"}';
    const utf16 = Buffer.from(`\ufeff${line}`, 'utf16le');
    const compressed = 'the input is compressed or UTF-16; decompress it, or convert it to UTF-8';
    const array = 'the input is a JSON array; write one object per line, without commas';
    for (const [format, bytes, hint] of [
      ['gzip', gzipSync(line), compressed],
      ['UTF-16 LE', utf16, compressed],
      ['UTF-16 without a byte order mark', utf16.subarray(2), compressed],
      ['a JSON array over lines', `\ufeff\n[\n${line}\n]`, array],
    ] as const) {
      // A pipe may deliver it after a chunk of white space.
      expect(await importFrom('\n', bytes), format).to.deep.equal({ kind: 'not-ndjson', hint });
      expect([rejects, await exported()], format).to.deep.equal([[], '']);
    }
  });

  it('reports a plant that a decorator declines, and throws if one returns too few outcomes', async () => {
    const declined = { kind: 'declined', error: { error: 40301, message: 'No cacti' } } as const;
    createPlants = { execute: async () => [declined] };
    expect(await importFrom(plantLines(1, 1))).to.include({ created: 0, rejected: 1 });
    expect(rejects).to.deep.equal([{ line: 1, error: 40301, message: 'No cacti' }]);
    expect(await catchError(importFrom(plantLines(1, 2)))).to.be.instanceOf(TypeError);
  });

  it('throws the error of its input, and keeps the stored plants, so that it can be run again', async () => {
    const text = plantLines(1, 20_000);
    const error = new Error('read failed');
    expect(await catchError(importFrom(text, error))).to.equal(error);
    expect(await importFrom(text))
      .to.have.property('alreadyStored')
      .that.is.above(4000);
    expect(await exported()).to.equal(text);
  });

  it('throws StorageUnavailable when the storage becomes unavailable, even in the last batch', async () => {
    await repository.close();
    for (const lines of [1, 20_000])
      expect(await catchError(importFrom(plantLines(1, lines)))).to.be.instanceOf(StorageUnavailable);
  });
});
