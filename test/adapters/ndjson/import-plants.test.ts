import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { openRepository, sqliteDatabase } from '../../../adapters/knex/index.js';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { StorageUnavailable } from '../../../core/index.js';
import { temporaryFolder } from '../../support/temporary.js';
import { exported, importInto, plantLines } from './support.js';

describe('An import', () => {
  it('stores the plants of its lines, with exact ids, and says how many', async () => {
    const plants = new MemoryPlantRepository();
    const text =
      '{"id":9223372036854775807,"name":"last"}\n{"id":9007199254740993,"name":"é","tag":""}\n{"id":-9223372036854775808,"name":""}\n';
    const { summary, rejects } = await importInto(plants, text);
    expect(summary).to.deep.equal({ created: 3, alreadyStored: 0, refused: 0, bytes: Buffer.byteLength(text) });
    expect(rejects).to.deep.equal([]);
    expect(await exported(plants)).to.equal(
      '{"id":-9223372036854775808,"name":""}\n{"id":9007199254740993,"name":"é","tag":""}\n{"id":9223372036854775807,"name":"last"}\n',
    );
  });

  it('of nothing stores nothing', async () => {
    const { summary, rejects } = await importInto(new MemoryPlantRepository(), '');
    expect(summary).to.deep.equal({ created: 0, alreadyStored: 0, refused: 0, bytes: 0 });
    expect(rejects).to.deep.equal([]);
  });

  describe('refuses one line, with its number, and stores its neighbours:', () => {
    const bad: Readonly<Record<string, readonly [line: string | Uint8Array, error: number, message: RegExp]>> = {
      'what is no JSON': ['{"id":2,"name":"a"', 40001, /not one JSON text/],
      'two JSON texts on one line': ['{"id":2,"name":"a"}{"id":4,"name":"b"}', 40001, /not one JSON text/],
      'an empty line': ['', 40001, /empty/],
      'an empty line with a carriage return': ['\r', 40001, /not one JSON text/],
      'what is not UTF-8': [Buffer.from('{"id":2,"name":"\xff"}', 'latin1'), 40001, /not UTF-8/],
      'an array': ['[2,"a"]', 40002, /must be a JSON object/],
      null: ['null', 40002, /must be a JSON object/],
      'a plant without a name': ['{"id":2}', 40002, /^name is required$/],
      'a plant without an id': ['{"name":"a"}', 40002, /^id is required$/],
      'a name that is no text': ['{"id":2,"name":3}', 40002, /^name must be a string$/],
      'an id beyond int64': [
        '{"id":9223372036854775808,"name":"a"}',
        40002,
        /^id must be an integer from -9223372036854775808 /,
      ],
      'an id that is no integer': ['{"id":9007199254740992.5,"name":"a"}', 40002, /^id must be an integer/],
      'an id in quotes': ['{"id":"2","name":"a"}', 40002, /^id must be an integer/],
      'U+0000 in a name': ['{"id":2,"name":"a\\u0000"}', 40003, /^name must not contain U\+0000/],
      'half a character in a tag': ['{"id":2,"name":"a","tag":"\\ud83c"}', 40003, /^tag must not contain/],
      'a line that is too long': [`{"id":2,"name":"${'a'.repeat(1024)}"}`, 41301, /larger than 1024 bytes/],
      'an id that another plant has': ['{"id":1,"name":"another"}', 40901, /taken/],
      'an id that another plant has, which differs by a blank': ['{"id":1,"name":"first "}', 40901, /taken/],
      'an id that another plant has, which differs by an empty tag': [
        '{"id":1,"name":"first","tag":""}',
        40901,
        /taken/,
      ],
    };
    for (const [what, [line, error, message]] of Object.entries(bad)) {
      it(what, async () => {
        const plants = new MemoryPlantRepository();
        const input = ['{"id":1,"name":"first"}\n', line, '\n{"id":3,"name":"third"}\n'].map((part) =>
          Buffer.from(part),
        );
        const { summary, rejects } = await importInto(plants, input);
        expect(summary).to.include({ created: 2, alreadyStored: 0, refused: 1 });
        expect(rejects).to.have.lengthOf(1);
        expect(rejects[0]).to.include({ line: 2, error }).and.have.property('message').that.matches(message);
        expect(rejects[0]).to.have.all.keys('line', 'error', 'message');
        expect(await exported(plants)).to.equal('{"id":1,"name":"first"}\n{"id":3,"name":"third"}\n');
      });
    }
  });

  it('tells of refused lines in their order, whatever refused them', async () => {
    const plants = new MemoryPlantRepository();
    const text =
      '{"id":1,"name":"a"}\nno JSON\n{"id":1,"name":"b"}\n[]\n{"id":2,"name":"\\u0000"}\n{"id":2,"name":"c"}\n\n';
    const { rejects } = await importInto(plants, text);
    expect(rejects.map(({ line, error }) => [line, error])).to.deep.equal([
      [2, 40001],
      [3, 40901],
      [4, 40002],
      [5, 40003],
      [7, 40001],
    ]);
  });

  it('says where lines are refused beyond its first batches, too', async () => {
    const text = `${plantLines(1, 2500)}no JSON\n${plantLines(3000, 1200)}{"id":1,"name":"another"}\n`;
    const { summary, rejects } = await importInto(new MemoryPlantRepository(), text);
    expect(summary).to.include({ created: 3700, refused: 2 });
    expect(rejects.map(({ line, error }) => [line, error])).to.deep.equal([
      [2501, 40001],
      [3702, 40901],
    ]);
  });

  it('counts a plant that is stored identically as done, also one that stands there twice', async () => {
    const plants = new MemoryPlantRepository();
    await importInto(plants, '{"id":1,"name":"a","tag":"t"}\n');
    const again = await importInto(
      plants,
      '{"tag":"t", "name":"\\u0061", "id":1.0, "more":true}\n{"id":2,"name":"b"}\n{"id":2,"name":"b"}\n',
    );
    expect(again.summary).to.include({ created: 1, alreadyStored: 2, refused: 0 });
    expect(again.rejects).to.deep.equal([]);
  });

  describe('lets the first of two lines with one id count', () => {
    for (const [where, between] of [
      ['in one batch', 0],
      ['in the next batch', 4000],
      ['many batches later', 20_000],
    ] as const) {
      it(where, async () => {
        const plants = new MemoryPlantRepository();
        const text = `{"id":-1,"name":"first"}\n${plantLines(1, between)}{"id":-1,"name":"second"}\n`;
        const { rejects } = await importInto(plants, text);
        expect(rejects.map(({ line, error }) => [line, error])).to.deep.equal([[between + 2, 40901]]);
        expect(await exported(plants)).to.match(/^\{"id":-1,"name":"first"\}\n/);
      });
    }
  });

  it('takes lines that end with CR LF, a byte order mark, and a last line without an end', async () => {
    const plants = new MemoryPlantRepository();
    const { summary } = await importInto(
      plants,
      '\ufeff{"id":1,"name":"a"}\r\n{"id":2,"name":"b"}\r\n{"id":3,"name":"c"}',
    );
    expect(summary).to.include({ created: 3, refused: 0 });
    expect(await exported(plants)).to.equal('{"id":1,"name":"a"}\n{"id":2,"name":"b"}\n{"id":3,"name":"c"}\n');
  });

  it('tells how far it is after every batch', async () => {
    const steps: number[] = [];
    await importInto(new MemoryPlantRepository(), plantLines(1, 10_000), {
      onProgress: ({ created }) => void steps.push(created),
    });
    expect(steps).to.deep.equal([4000, 8000, 10_000]);
  });

  it('waits for whoever takes the refused lines', async () => {
    const events: string[] = [];
    await importInto(new MemoryPlantRepository(), 'no JSON\n{"id":1,"name":"a"}\n', {
      onReject: async () => {
        events.push('told');
        await new Promise(setImmediate);
        events.push('written');
      },
      onProgress: () => void events.push('batch done'),
    });
    expect(events).to.deep.equal(['told', 'written', 'batch done']);
  });

  it('ends with the error of its input, and keeps what it had stored', async () => {
    const plants = new MemoryPlantRepository();
    async function* broken() {
      yield Buffer.from(plantLines(1, 6000));
      throw new Error('the disk has gone');
    }
    const error = await importInto(plants, broken()).catch((thrown: unknown) => thrown);
    expect(error).to.be.instanceOf(Error).with.property('message', 'the disk has gone');
    expect((await exported(plants)).split('\n')).to.have.lengthOf(4001);
  });

  it('that is interrupted finishes its batch, says how far it came, and goes on when it is run again', async () => {
    const plants = new MemoryPlantRepository();
    const interruption = new AbortController();
    const text = plantLines(1, 20_000);
    const chunks = text.match(/.{1,1000}/gs)?.map((chunk) => Buffer.from(chunk)) ?? [];
    const { summary } = await importInto(plants, chunks, {
      signal: interruption.signal,
      onProgress: () => interruption.abort(),
    });
    expect(summary.created).to.be.within(4000, 8000);
    expect((await exported(plants)).split('\n')).to.have.lengthOf(summary.created + 1);

    const again = await importInto(plants, text);
    expect(again.summary).to.include({ created: 20_000 - summary.created, alreadyStored: summary.created, refused: 0 });
    expect(await exported(plants)).to.equal(text);
  });

  describe('into a storage that goes away', () => {
    const folder = temporaryFolder();
    const open = (name: string) => openRepository(sqliteDatabase({ path: join(folder, name), timeoutMs: 10_000 }));

    it('ends with the error of the core, and a second run completes it', async () => {
      const text = plantLines(1, 20_000);
      const before = await open('away.db');
      const error = await importInto(before, text, { onProgress: () => void before.close() }).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).to.be.instanceOf(StorageUnavailable);

      const after = await open('away.db');
      try {
        const { summary, rejects } = await importInto(after, text);
        expect(summary.alreadyStored).to.be.within(4000, 16_000);
        expect(summary.created + summary.alreadyStored).to.equal(20_000);
        expect(rejects).to.deep.equal([]);
        expect(await exported(after)).to.equal(text);
      } finally {
        await after.close();
      }
    });

    it('from the start ends with the error of the core', async () => {
      const plants = await open('closed.db');
      await plants.close();
      const error = await importInto(plants, plantLines(1, 1)).catch((thrown: unknown) => thrown);
      expect(error).to.be.instanceOf(StorageUnavailable);
    });
  });
});
