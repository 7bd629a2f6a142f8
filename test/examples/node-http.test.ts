import { expect } from 'chai';
import { it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { HttpApi, NodeHttpServer } from '../../adapters/driving/http/index.js';
import { CreatePlant } from '../../core/index.js';
import { API_OPTIONS, TOKEN } from '../adapters/driving/koa/support.js';
import { inRepository } from '../support/paths.js';
import { findFailedCases } from './http-contract.js';

it('The service without a framework meets the HTTP contract', async () => {
  const { createListener } = await import(inRepository('docs/examples/node-http/plugin.js'));
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  const api = new HttpApi({ ...API_OPTIONS, createPlant, docs: true });
  // One case waits for the headers timeout.
  const server = new NodeHttpServer(createListener(api), { api, headersTimeoutMs: 5000 });
  const baseUrl = await server.listen(0, '127.0.0.1');
  expect(await findFailedCases({ baseUrl, token: TOKEN })).to.deep.equal([]);
  await server.stop();
});
