import { EventEmitter, once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { ManagementServer } from '../../../../adapters/driving/management/index.js';
import { exchange, RawClient, request } from '../../../support/raw-http.js';

describe('ManagementServer', () => {
  const running: ManagementServer[] = [];
  afterEach(() => Promise.all(running.splice(0).map((server) => server.stop())));
  /** Starts a server, by default with a storage that is ready and without metrics. Returns its port. */
  const start = async ({ ready = async () => {}, text = async () => '', setReady = (_: boolean) => {} }) => {
    const metrics = { contentType: 'text/plain', setReady, text };
    const server = new ManagementServer({ storage: { ready }, metrics, isStopping: () => false });
    running.push(server);
    return (await server.listen(0, '127.0.0.1')).port;
  };

  it('reports a storage that does not respond as unavailable, and checks it once for concurrent requests', async () => {
    const measured: boolean[] = [];
    let checks = 0;
    const hang = () => {
      checks++;
      return new Promise<void>(() => {});
    };
    const port = await start({ ready: hang, setReady: (isReady) => measured.push(isReady) });
    const targets = ['/readyz', '/readyz', '/metrics'];
    const [response] = await Promise.all(targets.map((target) => exchange(port, request(`GET ${target}`))));
    expect(response?.status).to.equal(503);
    expect(response?.json()).to.have.nested.property('checks.storage', 'unavailable');
    expect(checks).to.equal(1);
    expect(measured).to.deep.equal([false]);
  });

  it('checks the storage again for each later request', async () => {
    let isUnavailable = false;
    const ready = async () => {
      if (isUnavailable) throw new Error('no response');
    };
    const port = await start({ ready });
    for (const status of [200, 503, 200]) {
      isUnavailable = status === 503;
      expect(await exchange(port, request('GET /readyz'))).to.include({ status });
    }
  });

  it('processes only the first of pipelined requests, and closes the connection after its response', async () => {
    let scrapes = 0;
    const text = async () => {
      scrapes++;
      await setTimeout(100);
      return 'plants 1\n';
    };
    const client = await RawClient.connect(await start({ text }));
    client.send(Buffer.concat(Array(100).fill(request('GET /metrics'))));
    const [response, ...others] = await client.readAllResponses();
    expect(response).to.include({ status: 200, body: 'plants 1\n' });
    expect(response?.headers).to.include({ connection: 'close' });
    expect(others).to.deep.equal([]);
    expect(scrapes).to.equal(1);
  });

  it('stops reading a flood of pipelined requests, and closes the connection', async () => {
    const events = new EventEmitter();
    const text = async () => {
      events.emit('scrape');
      await once(events, 'scraped');
      return '';
    };
    const client = await RawClient.connect(await start({ text }));
    client.socket.pause();
    const flood = Buffer.concat(Array(1_000_000).fill(Buffer.from(request('GET /metrics'))));
    client.send(flood);
    await once(events, 'scrape');
    // Long enough to read the rest of the flood, for a server that does not stop.
    await setTimeout(500);
    expect(client.socket.writableLength, 'bytes that the server did not read').to.be.above(flood.length / 2);
    events.emit('scraped');
    client.socket.resume();
    await client.ended();
  });
});
