import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Executable, endProgramsAfterEach, Program } from '../support/executable.js';
import { needsProgram } from '../support/needs.js';
import { randomNumbers } from '../support/random.js';
import { RawClient } from '../support/raw-http.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { creating, outcomeOf, type TestPlant, TOKEN } from './client.js';
import { lossesInPowerCuts, tracing } from './power-cut.js';

/** How often the power is cut. */
const CUTS = sized(10, 200);
/** So many of a size that the log is carried over into the database meanwhile. */
const PLANTS = 250;
const NAME_LENGTH = 20_000;
const CLIENTS = 8;

describe('When the power is cut at any answer', () => {
  endProgramsAfterEach();
  const random = randomNumbers();
  const folder = realpathSync(temporaryFolder());
  const plants = new Map<bigint, TestPlant>();
  before(function () {
    needsProgram(this, 'strace', '-o', '/dev/null', 'true');
    for (let id = 1n; id <= PLANTS; id++) plants.set(id, { id, name: `${id} `.repeat(NAME_LENGTH / 4) });
  });

  it('every plant that was answered with 200 until then is in the SQLite file, which is whole', async function () {
    this.timeout(20_000 + CUTS * 1000);
    const [trace, database] = [join(folder, 'trace'), join(folder, 'plants.db')];
    const environment = { PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL: `sqlite:${database}`, LOG_LEVEL: 'fatal' };
    const service = new Executable(folder, [], environment, tracing(trace));
    const port = await service.port();
    const toSend = plants.values();
    const clients = Array.from({ length: CLIENTS }, async () => {
      const client = await RawClient.connect(port);
      for (const plant of toSend) {
        const answer = await client.send(creating(plant, { 'X-Request-Id': `${plant.id}` })).answer();
        expect(outcomeOf(answer)).to.equal(200);
      }
    });
    await Promise.all(clients);
    await service.killGroup('SIGTERM').exited();
    const losses = await lossesInPowerCuts(trace, database, plants, folder, random, CUTS);
    expect(losses).to.include({ lost: 0, invented: 0 });
    expect(losses.damages).to.deep.equal([]);
    expect(losses.checkpoints).to.be.above(1);
  });

  for (const synchronous of ['OFF', 'NORMAL']) {
    it(`a program with synchronous=${synchronous} loses what it answered, so that this test would see it`, async () => {
      const [trace, database] = [join(folder, `trace-${synchronous}`), join(folder, `${synchronous}.db`)];
      const script = [process.execPath, '--input-type=module', '--eval', CARELESS, database, synchronous];
      const program = new Program(new URL('.', import.meta.url).pathname, [...tracing(trace), ...script], {});
      expect(await program.exited(), program.stderr).to.equal(0);
      const { lost } = await lossesInPowerCuts(trace, database, plants, folder, random, 1);
      expect(lost).to.be.above(0);
    });
  }
});

/** Answers as the service does, and syncs less. */
const CARELESS = `
  import { writeSync } from 'node:fs';
  import { promisify } from 'node:util';
  import sqlite3 from 'sqlite3';
  const [path, synchronous] = process.argv.slice(1);
  const database = new sqlite3.Database(path);
  const run = promisify(database.run.bind(database));
  await run('PRAGMA journal_mode = WAL');
  await run('PRAGMA synchronous = ' + synchronous);
  await run('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
  for (let id = 1; id <= 20; id++) {
    await run('INSERT INTO plants (id, name) VALUES (?, ?)', id, (id + ' ').repeat(${NAME_LENGTH / 4}));
    writeSync(1, 'HTTP/1.1 200 OK\\r\\nX-Request-Id: ' + id + '\\r\\n\\r\\n');
  }
  process.exit();`;
