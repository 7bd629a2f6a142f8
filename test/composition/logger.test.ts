import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import knexFactory from 'knex';
import { after, describe, it } from 'mocha';
import { describeError } from '../../composition/logger.js';
import { PlantRefused, StorageUnavailable } from '../../core/index.js';

/** Stands where a value of a client would. */
const CANARY = 'canary-4711';

describe('The log', () => {
  it('keeps every line of those that come in one turn, however many', () => {
    const program = `
      import { createLogger } from ${JSON.stringify(new URL('../../composition/logger.js', import.meta.url).href)};
      const log = await createLogger({ logLevel: 'info' });
      for (let line = 0; line < 5000; line++) log.info({ text: 'x'.repeat(1000) }, 'line');`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      encoding: 'utf8',
      maxBuffer: 16 * 1024 ** 2,
    });
    expect(stderr.match(/\n/g)).to.have.length(5000);
  });
});

describe('What is logged of an error', () => {
  const knex = knexFactory({ client: 'sqlite3', connection: ':memory:', useNullAsDefault: true });
  after(() => knex.destroy());

  const parseError = () => errorOf(() => JSON.parse(CANARY));
  const knexError = () => errorOf(() => knex('no_such_table').insert({ name: CANARY }));

  it('is its class and its code', async () => {
    expect(describeError(await knexError())).to.include({ type: 'Error', code: 'SQLITE_ERROR' });
  });

  it('is where it happened, frame by frame', async () => {
    const error = await parseError();
    expect(describeError(error))
      .to.have.property('stack')
      .that.matches(/^ {4}at JSON\.parse .*\n {4}at .*logger\.test\.js:\d+:\d+/);
  });

  it('is the message of an error of the core', () => {
    const error = new StorageUnavailable('the storage does not answer (SQLITE_BUSY)');
    expect(describeError(error)).to.include({
      type: 'StorageUnavailable',
      code: 'STORAGE_UNAVAILABLE',
      message: 'the storage does not answer (SQLITE_BUSY)',
    });
  });

  it('is every cause, down to the first', async () => {
    const middle = new Error(CANARY, { cause: await parseError() });
    const description = describeError(new PlantRefused('refused', { cause: middle }));
    expect(description).to.have.nested.property('message', 'refused');
    expect(description).to.have.nested.property('cause.type', 'Error');
    expect(description).to.have.nested.property('cause.cause.type', 'SyntaxError');
    expect(description).to.have.nested.property('cause.cause.stack').that.includes('logger.test.js');
  });

  it('has an end where an error causes itself', () => {
    const error = new Error(CANARY);
    error.cause = error;
    expect(() => describeError(error)).to.not.throw();
  });

  describe('is never', () => {
    for (const [what, make] of [
      ['what JSON.parse quotes of a body', parseError],
      ['the values that Knex puts into its message', knexError],
      ['the message of a cause', async () => new StorageUnavailable('no answer', { cause: await knexError() })],
      [
        'the message of a cause of a cause',
        async () => new Error('', { cause: new Error('', { cause: await parseError() }) }),
      ],
      ['what was thrown and is no error', async () => CANARY],
      ['a cause that is no error', async () => new Error('', { cause: { token: CANARY } })],
      ['other members of an error', async () => Object.assign(new Error(''), { sql: CANARY, bindings: [CANARY] })],
      ['a line of a message that looks like a frame', async () => new Error(`\n    at ${CANARY}\n    at ${CANARY}`)],
      ['such a line after another kind of line break', async () => new Error(`\u2028    at ${CANARY}`)],
    ] as const) {
      it(what, async () => {
        expect(JSON.stringify(describeError(await make()))).to.not.include(CANARY);
      });
    }
  });
});

async function errorOf(work: () => unknown): Promise<unknown> {
  try {
    await work();
  } catch (error) {
    expect(`${error}`).to.include(CANARY);
    return error;
  }
  throw new Error('expected an error, but it did what it was asked');
}
