import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, serve, toLines } from '../support/client.js';
import { inRepository } from '../support/paths.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

/** A storage in memory that records its calls in garden.log, and whose writes wait while the file `slow` exists. */
const GARDEN = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { MemoryPlantRepository } from 'plant-store/adapters/memory';
  import { services } from 'plant-store/composition';
  class Garden extends MemoryPlantRepository {
    async add(plants) {
      appendFileSync('garden.log', 'add\\n');
      while (existsSync('slow')) await setTimeout(10);
      return super.add(plants);
    }
    close = async () => appendFileSync('garden.log', 'close\\n');
  }
  export default (container) => {
    container.bind(services.OpenStorage).toConstantValue(() => new Garden()).whenNamed('garden');
  };`;

/** A plugin that accepts one token. */
const VERIFIER = `
  const ali = { kind: 'valid', principal: { subject: 'ali' } };
  const verify = async (token) => (token === 'b3BlbiBzZXNhbWU=' ? ali : { kind: 'invalid' });
  export default (container) => {
    container.rebind(Symbol.for('plant-store:TokenVerifier')).toConstantValue({ verify });
  };`;

describe('Plugins', () => {
  const folder = temporaryFolder();
  before(() => {
    const garden = join(folder, 'node_modules/garden');
    mkdirSync(garden, { recursive: true });
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    writeFileSync(join(garden, 'package.json'), '{"name":"garden","type":"module","exports":"./garden.js"}');
    writeFileSync(join(garden, 'garden.js'), GARDEN);
    writeFileSync(join(folder, 'verifier.mjs'), VERIFIER);
  });

  it('add a storage with group commit and metrics, and replace the token verifier on any address', async () => {
    const plugins = { PLUGINS: 'garden,./verifier.mjs', DATABASE_URL: 'garden:', ACCESS_TOKENS: '' };
    const service = serve(folder, { ...plugins, HOST: '0.0.0.0', MANAGEMENT_PORT: '0' });
    const port = await service.port();
    const url = `http://127.0.0.1:${await service.managementPort()}/metrics`;
    const readMetrics = async () => (await fetch(url)).text();
    writeFileSync(join(folder, 'slow'), '');
    const headers = { Authorization: 'Bearer b3BlbiBzZXNhbWU=' };
    const creates = Array.from({ length: 20 }, (_, id) => create(port, { id: BigInt(id), name: 'Aloe' }, headers));
    await waitUntil('20 creates wait', async () => /^\w+_creates_in_flight 20$/m.test(await readMetrics()));
    rmSync(join(folder, 'slow'));
    for (const response of await Promise.all(creates)) expect(response?.outcome).to.equal(200);
    expect(await readMetrics()).to.match(/^plant_store_\w+\{.*added.*\} 20$/m);
    expect((await create(port, { id: 1n, name: 'Aloe' }))?.outcome, 'with a token of the settings').to.equal(40102);
    expect(await service.stop()).to.equal(0);
    expect(service.stdout).not.to.include('Bearer');
    const calls = toLines(readFileSync(join(folder, 'garden.log'), 'utf8'));
    expect(calls.filter((call) => call === 'add')).to.have.length.below(20);
    expect(calls.at(-1)).to.equal('close');
  });
});
