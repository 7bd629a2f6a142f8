import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { ManagementServer } from '../../../../adapters/driving/management/index.js';
import { findSlow, hostile } from '../../../support/processor-time.js';
import { exchange, request } from '../../../support/raw-http.js';

describe('ManagementServer', () => {
  const running: ManagementServer[] = [];
  afterEach(() => Promise.all(running.splice(0).map((server) => server.stop(0))));
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

  it('takes a processor time in proportion to the bytes of a request', async () => {
    const bytes = request('GET /healthz', { Host: hostile('o', '@xn--') });
    expect(await findSlow(await start({}), new Map([['a hostile Host', bytes]]))).to.deep.equal([]);
  });
});
