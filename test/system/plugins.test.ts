import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { create, toLines } from '../support/client.js';
import { plantStore } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

/** A package whose storage is in memory. It records its calls in garden.log, and its writes wait while the file `slow` exists. */
const GARDEN = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { MemoryPlantRepository } from 'plant-store/adapters/memory';
  import { services } from 'plant-store/composition';
  const log = (call) => appendFileSync('garden.log', call + '\\n');
  class Garden extends MemoryPlantRepository {
    async add(plants) {
      log('add');
      while (existsSync('slow')) await setTimeout(10);
      return super.add(plants);
    }
    async close() {
      log('close');
    }
  }
  const open = () => {
    log('open');
    return new Garden();
  };
  export default (container) => { container.bind(services.OpenStorage).toConstantValue(open).whenNamed('garden'); };`;

/** A plugin that accepts one token. */
const VERIFIER = `
  const verify = async (token) => (token === 'b3BlbiBzZXNhbWU=' ? { subject: 'ali' } : undefined);
  export default (container) => {
    container.rebind(Symbol.for('plant-store:TokenVerifier')).toConstantValue({ verify });
  };`;

describe('A plugin', () => {
  const folder = temporaryFolder();
  const log = join(folder, 'garden.log');
  before(() => {
    const garden = join(folder, 'node_modules/garden');
    mkdirSync(garden, { recursive: true });
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    writeFileSync(join(garden, 'package.json'), '{"name":"garden","type":"module","exports":"./garden.js"}');
    writeFileSync(join(garden, 'garden.js'), GARDEN);
    writeFileSync(join(folder, 'verifier.mjs'), VERIFIER);
  });
  const calls = () => toLines(readFileSync(log, 'utf8'));
  const start = (command: string, environment: Readonly<Record<string, string>> = {}) =>
    plantStore(folder, [command], { PORT: '0', PLUGINS: 'garden', DATABASE_URL: 'garden:', ...environment });

  it('in a package adds a storage with group commit and metrics, which is closed at shutdown', async () => {
    const service = start('serve', { ACCESS_TOKENS: TOKEN, MANAGEMENT_PORT: '0' });
    const port = await service.port();
    const url = `http://127.0.0.1:${await service.managementPort()}/metrics`;
    const readMetrics = async () => (await fetch(url)).text();
    writeFileSync(join(folder, 'slow'), '');
    const creates = Array.from({ length: 20 }, (_, index) => create(port, { id: BigInt(index), name: 'Monstera' }));
    await waitUntil('20 creates wait', async () => /^\w+_creates_in_flight 20$/m.test(await readMetrics()));
    rmSync(join(folder, 'slow'));
    for (const response of await Promise.all(creates)) expect(response?.outcome).to.equal(200);
    expect(await readMetrics()).to.match(/^plant_store_\w+\{.*added.*\} 20$/m);
    expect(await service.stop()).to.equal(0);
    expect(calls().filter((call) => call === 'add')).to.have.length.below(20);
    expect([calls()[0], calls().at(-1)]).to.deep.equal(['open', 'close']);
  });

  it('adds a storage for import and export, which close it', async () => {
    rmSync(log, { force: true });
    expect(await start('import').result('{"id":9007199254740993,"name":"é"}\n')).to.deep.equal({
      ...{ exitCode: 0, stdout: '', stderr: '1 plants created, 0 already stored, 0 lines rejected\n' },
    });
    expect(await start('export').result()).to.deep.equal({ exitCode: 0, stdout: '', stderr: '' });
    expect(calls()).to.deep.equal(['open', 'add', 'close', 'open', 'close']);
  });

  it('replaces the token verifier on any address: it alone decides, and no token is needed or printed', async () => {
    const settings = { PLUGINS: './verifier.mjs', HOST: '0.0.0.0', DATABASE_URL: 'memory:' };
    const service = start('serve', settings);
    const port = await service.port();
    const headers = { Authorization: 'Bearer b3BlbiBzZXNhbWU=' };
    expect((await create(port, { id: 1n, name: 'Aloe' }, headers))?.outcome).to.equal(200);
    expect((await create(port, { id: 2n, name: 'Aloe' }))?.outcome).to.equal(40102);
    expect(service.stdout).not.to.include('Bearer');
  });
});
