import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { ManagementServer, Metrics } from '../../../adapters/management/index.js';
import { MemoryPlantRepository } from '../../../adapters/memory/index.js';
import { exchange, request } from '../../support/raw-http.js';

describe('The management server', () => {
  let server: ManagementServer;
  afterEach(() => server.stop());

  it('says that a storage is not ready which says nothing at all', async () => {
    const plants = new MemoryPlantRepository();
    plants.ready = () => new Promise(() => {});
    server = new ManagementServer({ plants, metrics: new Metrics('0.0.0'), isStopping: () => false });
    const { port } = await server.listen(0, '127.0.0.1');
    const answer = await exchange(port, request('GET /readyz', { Connection: 'close' }));
    expect(answer?.status).to.equal(503);
    expect(answer?.json()).to.have.nested.property('checks.storage', 'does not answer');
  });
});
