import { join } from 'node:path';
import { describe, it } from 'mocha';
import { createRequest, serve, type TestPlant } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { endProgramsAfterEach, type Program } from '../support/executable.js';
import { RawClient, request } from '../support/raw-http.js';
import { expectNoneDropped } from '../support/shutdown.js';
import { temporaryFolder } from '../support/temporary.js';

const CLIENTS = 200;

describe('Shutting down under load', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  let nextId = 1n;
  const newPlant = (): TestPlant => ({ id: nextId, name: `plant ${nextId++}` });

  /** Pauses the service during `sendAll`, then sends SIGTERM, so that requests and signal reach it simultaneously. */
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
          return { plant, client: (await RawClient.connect(port)).send(createRequest(plant)) };
        }),
      ),
    );
    const received = sent.map(async ({ plant, client }) => ({ plant, response: await client.readResponse() }));
    await expectNoneDropped(service, sqliteStore(join(folder, 'burst.db')), await Promise.all(received));
  });

  it('drops no request of clients that pipeline requests', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:pipelined.db' });
    const port = await service.port();
    const clients = await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        const client = await RawClient.connect(port);
        await client.send(request('GET /plants')).readResponse();
        return client;
      }),
    );
    const sent = await signalAfterSending(service, async () =>
      clients.map((client) => {
        const plants = Array.from({ length: 10 }, newPlant);
        client.send(Buffer.concat(plants.map((plant) => createRequest(plant))));
        return { client, plants };
      }),
    );
    const received = sent.map(async ({ client, plants }) => {
      const responses = [];
      for (const plant of plants) responses.push({ plant, response: await client.readResponse() });
      return responses;
    });
    await expectNoneDropped(service, sqliteStore(join(folder, 'pipelined.db')), (await Promise.all(received)).flat());
  });
});
