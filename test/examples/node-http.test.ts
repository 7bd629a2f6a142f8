import { it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { StaticTokenVerifier } from '../../adapters/driven/static-token/index.js';
import { CreatePlant } from '../../core/index.js';
import { inRepository } from '../support/paths.js';
import { expectContractButForListed } from './http-contract.js';

const TOKEN = 'example-token-0123';

it('The service without a framework meets the HTTP contract, except for the cases that its README lists', async () => {
  const { createServer } = await import(inRepository('docs/examples/node-http/plugin.js'));
  const createPlant = new CreatePlant(new MemoryPlantRepository());
  // One case waits for the headers timeout.
  const limits = { headersTimeoutMs: 5000 };
  const server = createServer({ createPlant, tokenVerifier: new StaticTokenVerifier([TOKEN]), ...limits });
  const { port } = await server.listen(0, '127.0.0.1');
  await expectContractButForListed('node-http', { baseUrl: `http://127.0.0.1:${port}`, token: TOKEN });
  await server.stop(1000);
});
