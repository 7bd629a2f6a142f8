import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { endProgramsAfterEach, Program } from '../support/executable.js';
import { exchange, type RawAnswer, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { byId, create, creating, outcomeOf, serve, type TestPlant, TOKEN } from './client.js';
import { plantsIn, SqliteFile } from './sqlite-file.js';
import { mariadbEngine, postgresEngine, sqliteEngine, sqliteStore, type TestStore } from './stores.js';

const CLIENTS = 200;

describe('Stopping the service', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`${signal} at rest exits with 0 in well under a second, whatever connections are open`, async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:' });
      const port = await service.port();
      const neverSpoke = await RawClient.connect(port);
      const idle = await RawClient.connect(port);
      await idle.send(request('GET /plants')).answer();

      const start = performance.now();
      expect(await service.kill(signal).exited()).to.equal(0);
      expect(performance.now() - start).to.be.below(1000);
      await Promise.all([neverSpoke.ended(), idle.ended()]);
    });
  }

  it('waits for a client that has not read its answers yet: they come whole', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:' });
    const port = await service.port();
    const script = request('GET /docs/swagger-ui-bundle.js');
    const whole = await exchange(port, script);
    const slow = await RawClient.connect(port, { isRecorded: false });
    slow.socket.pause();
    slow.send(Buffer.concat(Array(4).fill(script)));
    // What the slow one asked for is being answered by the time that another one has its answer.
    await exchange(port, request('GET /openapi.json'));
    service.kill('SIGTERM');
    await service.says(/"stopping"/);
    slow.socket.resume();
    const answers = await slow.answersToEnd();
    expect(answers.map(({ body }) => body === whole?.body)).to.deep.equal([true, true, true, true]);
    expect(await service.exited()).to.equal(0);
  });

  it('leaves one file that is whole by itself, to copy or to move', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:whole.db' });
    await create(await service.port(), { id: 1n, name: 'Monstera' });
    await service.kill('SIGTERM').exited();
    expect(readdirSync(folder).filter((name) => name.startsWith('whole.db'))).to.deep.equal(['whole.db']);
    expect(await plantsIn(join(folder, 'whole.db'))).to.have.length(1);
  });

  describe('under load', () => {
    let nextId = 1n;
    const newPlant = (): TestPlant => ({ id: nextId, name: `plant ${nextId++}` });

    /** Checks that each of `sent` got an answer in full, that the service stopped in good order, and what the store holds. */
    async function expectNoneDropped(
      service: Program,
      store: TestStore,
      sent: readonly { readonly plant: TestPlant; readonly answer: RawAnswer | undefined }[],
    ) {
      const outcomes = sent.map(({ answer }) => outcomeOf(answer));
      const dropped = outcomes.filter((outcome) => outcome === undefined);
      expect(dropped, `requests dropped, of ${sent.length}`).to.have.length(0);
      expect([200, 50303]).to.include.members([...new Set(outcomes)]);
      expect(await service.exited()).to.equal(0);
      const created = sent.filter(({ answer }) => answer?.status === 200).map(({ plant }) => plant);
      expect(await store.plants()).to.deep.equal(byId(created));
    }

    for (const engine of [sqliteEngine, postgresEngine, mariadbEngine]) {
      describe(`on ${engine.name}`, () => {
        const stores = engine.stores();

        it('drops no request of clients that send one after the other', async () => {
          const store = await stores.create();
          const service = serve(folder, { DATABASE_URL: store.url, LOG_LEVEL: 'fatal' });
          const port = await service.port();
          const clients = await Promise.all(Array.from({ length: CLIENTS }, () => RawClient.connect(port)));
          const sent: { plant: TestPlant; answer: RawAnswer | undefined }[] = [];
          let signalled = false;
          const sending = clients.map(async (client) => {
            while (!signalled) {
              const plant = newPlant();
              sent.push({ plant, answer: await client.send(creating(plant)).answer() });
              if (sent.length < 3 * CLIENTS || signalled) continue;
              signalled = true;
              service.kill('SIGTERM');
            }
          });
          await Promise.all(sending);
          await expectNoneDropped(service, store, sent);
        });
      });
    }

    /** Has `sendAll` send to a service that is too busy to look, and then sends the signal: it finds all of it at once. */
    async function signalAfterSending<T>(service: Program, sendAll: () => Promise<T>): Promise<T> {
      service.kill('SIGSTOP');
      const sent = await sendAll();
      service.kill('SIGTERM').kill('SIGCONT');
      return sent;
    }

    it('drops no request of clients that have just connected', async () => {
      const service = serve(folder, { DATABASE_URL: 'sqlite:burst.db' });
      const port = await service.port();
      const sent = await signalAfterSending(service, () =>
        Promise.all(
          Array.from({ length: CLIENTS }, async () => {
            const plant = newPlant();
            return { plant, client: (await RawClient.connect(port)).send(creating(plant)) };
          }),
        ),
      );
      const answered = sent.map(async ({ plant, client }) => ({ plant, answer: await client.answer() }));
      await expectNoneDropped(service, sqliteStore(join(folder, 'burst.db')), await Promise.all(answered));
    });

    it('drops no request of clients that send several at once', async () => {
      const service = serve(folder, { DATABASE_URL: 'sqlite:pipelined.db' });
      const port = await service.port();
      const clients = await Promise.all(
        Array.from({ length: CLIENTS }, async () => {
          const client = await RawClient.connect(port);
          await client.send(request('GET /plants')).answer();
          return client;
        }),
      );
      const sent = await signalAfterSending(service, async () =>
        clients.map((client) => {
          const plants = Array.from({ length: 10 }, newPlant);
          client.send(Buffer.concat(plants.map((plant) => creating(plant))));
          return { client, plants };
        }),
      );
      const answered = sent.map(async ({ client, plants }) => {
        const answers = [];
        for (const plant of plants) answers.push({ plant, answer: await client.answer() });
        return answers;
      });
      await expectNoneDropped(service, sqliteStore(join(folder, 'pipelined.db')), (await Promise.all(answered)).flat());
    });

    it('after a restart every plant is there', async () => {
      const first = serve(folder, { DATABASE_URL: 'sqlite:restarted.db' });
      const port = await first.port();
      const plants = Array.from({ length: CLIENTS }, newPlant);
      await Promise.all(plants.map((plant) => create(port, plant)));
      await first.kill('SIGTERM').exited();

      const portAgain = await serve(folder, { DATABASE_URL: 'sqlite:restarted.db' }).port();
      const outcomes = await Promise.all(plants.map(async (plant) => outcomeOf(await create(portAgain, plant))));
      expect(new Set(outcomes)).to.deep.equal(new Set([40902]));
    });
  });

  /** Has `port` accept a create whose body it then waits for, and returns what sends that body. */
  async function beginCreate(port: number, plant: TestPlant): Promise<{ client: RawClient; finish: () => RawClient }> {
    const client = await RawClient.connect(port);
    const bytes = creating(plant, { Expect: '100-continue' });
    const bodyAt = bytes.indexOf('\r\n\r\n') + 4;
    expect((await client.send(bytes.subarray(0, bodyAt)).answer())?.status).to.equal(100);
    return { client, finish: () => client.send(bytes.subarray(bodyAt)) };
  }

  describe('with a create under way', () => {
    it('waits for the rest of its body, answers it and exits with 0', async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:' });
      const port = await service.port();
      const idle = await RawClient.connect(port);
      const { finish } = await beginCreate(port, { id: 1n, name: 'Monstera' });
      service.kill('SIGTERM');
      await idle.ended();
      const answer = await finish().answer();
      expect(answer?.status).to.equal(200);
      expect(answer?.headers['connection']).to.equal('close');
      expect(await service.exited()).to.equal(0);
    });

    it('accepts nobody else meanwhile', async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:' });
      const port = await service.port();
      const { client, finish } = await beginCreate(port, { id: 1n, name: 'Monstera' });
      const idle = await RawClient.connect(port);
      await service.kill('SIGTERM').says(/"stopping"/);
      await idle.ended();
      const refused = await RawClient.connect(port).catch((error: NodeJS.ErrnoException) => error.code);
      expect(refused).to.equal('ECONNREFUSED');
      await finish().answer();
      await client.ended();
    });

    it('waits for the storage, answers it and exits with 0', async () => {
      const service = serve(folder, { DATABASE_URL: 'sqlite:locked.db' });
      const { finish } = await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
      const file = await SqliteFile.open(join(folder, 'locked.db'));
      await file.exec('BEGIN EXCLUSIVE');
      const answer = finish().answer();
      await service.kill('SIGTERM').says(/"stopping"/);
      await file.exec('COMMIT');
      expect((await answer)?.status).to.equal(200);
      expect(await service.exited()).to.equal(0);
      expect(await file.plants()).to.deep.equal([{ id: 1n, name: 'Monstera' }]);
      await file.close();
    });

    it('waits no longer than SHUTDOWN_TIMEOUT for a client, and exits with 1', async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '300ms' });
      await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
      const start = performance.now();
      expect(await service.kill('SIGTERM').exited()).to.equal(1);
      expect(performance.now() - start).to.be.within(300, 1300);
    });

    it('waits no longer than SHUTDOWN_TIMEOUT for the storage, and exits with 1', async () => {
      const service = serve(folder, { DATABASE_URL: 'sqlite:stuck.db', SHUTDOWN_TIMEOUT: '300ms' });
      const { finish } = await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
      const file = await SqliteFile.open(join(folder, 'stuck.db'));
      await file.exec('BEGIN EXCLUSIVE');
      finish();
      const start = performance.now();
      expect(await service.kill('SIGTERM').exited()).to.equal(1);
      expect(performance.now() - start).to.be.within(300, 1300);
      await file.close();
    });

    for (const [signal, exitCode] of [
      ['SIGINT', 130],
      ['SIGTERM', 143],
    ] as const) {
      it(`a second signal, ${signal}, ends it at once with ${exitCode}`, async () => {
        const service = serve(folder, { DATABASE_URL: 'memory:' });
        await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
        await service.kill('SIGTERM').says(/"stopping"/);
        // Signals within 200 ms count as one.
        await setTimeout(300);
        expect(await service.kill(signal).exited()).to.equal(exitCode);
      });
    }

    it('two signals at the same moment count as one', async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:' });
      const { finish } = await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
      await service
        .kill('SIGINT')
        .kill('SIGTERM')
        .says(/"stopping"/);
      expect((await finish().answer())?.status).to.equal(200);
      expect(await service.exited()).to.equal(0);
    });
  });

  it('Ctrl-C under `npm start` stops it in good order, although npm passes the signal on a second time', async () => {
    const root = fileURLToPath(new URL('../../../', import.meta.url));
    const environment = { PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL: 'memory:' };
    // Without the build that comes before it, and without a look for a newer npm.
    const command: [string, ...string[]] = ['npm', 'start', '--ignore-scripts', '--no-update-notifier'];
    const npm = new Program(root, command, environment);
    const { client, finish } = await beginCreate(await npm.port(), { id: 1n, name: 'Monstera' });
    await npm.killGroup('SIGINT').says(/"stopping"/);
    expect((await finish().answer())?.status).to.equal(200);
    await client.ended();
    await npm.exited();
    expect(npm.stderr).to.match(/"finished":true,"msg":"stopped"/);
  });
});
