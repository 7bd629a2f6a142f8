import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, beforeEach, describe, it } from 'mocha';
import { ManagementServer } from '../../../../adapters/driving/management/index.js';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import { waitUntil } from '../../../support/wait-until.js';

describe('ManagementServer', () => {
  let readyCalls: number;
  let isReady: boolean | undefined;
  let scrapes: number;
  let scrape: () => Promise<unknown>;
  let check: () => Promise<void>;
  let server: ManagementServer;
  let port: number;

  beforeEach(async () => {
    readyCalls = 0;
    scrapes = 0;
    scrape = () => setTimeout(100);
    check = async () => {};
    server = new ManagementServer({
      storage: {
        ready: () => {
          readyCalls++;
          return check();
        },
      },
      metrics: {
        contentType: 'text/plain',
        setReady: (value) => {
          isReady = value;
        },
        text: async () => {
          scrapes++;
          await scrape();
          return 'plants 1\n';
        },
      },
      isStopping: () => false,
    });
    ({ port } = await server.listen(0, '127.0.0.1'));
  });
  afterEach(() => server.stop());

  it('reports a storage that does not respond as unavailable, and checks it once for concurrent requests', async () => {
    check = () => new Promise(() => {});
    const targets = ['/readyz', '/readyz', '/metrics'];
    const [response] = await Promise.all(targets.map((target) => exchange(port, request(`GET ${target}`))));
    expect(response?.status).to.equal(503);
    expect(response?.json()).to.have.nested.property('checks.storage', 'unavailable');
    expect(readyCalls).to.equal(1);
    expect(isReady, 'measured for a scrape').to.equal(false);
  });

  it('processes only the first of pipelined requests, and closes the connection after its response', async () => {
    const client = await RawClient.connect(port);
    client.send(Buffer.concat(Array(100).fill(request('GET /metrics'))));
    const [response, ...others] = await client.readAllResponses();
    expect(response).to.include({ status: 200, body: 'plants 1\n' });
    expect(response?.headers).to.include({ connection: 'close' });
    expect(others).to.deep.equal([]);
    expect(scrapes).to.equal(1);
  });

  it('stops reading a flood of pipelined requests, and closes the connection', async () => {
    const events = new EventEmitter();
    scrape = () => once(events, 'scraped');
    const client = await RawClient.connect(port);
    client.socket.pause();
    const flood = Buffer.concat(Array(1_000_000).fill(Buffer.from(request('GET /metrics'))));
    client.send(flood);
    await waitUntil('the first request', async () => scrapes === 1);
    // Long enough to read the rest of the flood, for a server that does not stop.
    await setTimeout(500);
    expect(client.socket.writableLength, 'bytes that the server did not read').to.be.above(flood.length / 2);
    events.emit('scraped');
    client.socket.resume();
    await client.ended();
  });
});
