import { it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { StaticTokenVerifier } from '../../adapters/driven/static-token/index.js';
import { HttpApi, NodeHttpServer } from '../../adapters/driving/http/index.js';
import { CreatePlant } from '../../core/index.js';
import { inRepository } from '../support/paths.js';
import { expectContractButForListed } from './http-contract.js';

const TOKEN = 'example-token-0123';

it('The service without a framework meets the HTTP contract', async () => {
  const { createListener } = await import(inRepository('docs/examples/node-http/plugin.js'));
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  const api = new HttpApi({ createPlant, tokenVerifier: new StaticTokenVerifier([TOKEN]), docs: true });
  // One case waits for the headers timeout.
  const server = new NodeHttpServer(createListener(api), { api, headersTimeoutMs: 5000 });
  const baseUrl = await server.listen(0, '127.0.0.1');
  await expectContractButForListed('node-http', { baseUrl, token: TOKEN });
  await server.stop();
});
