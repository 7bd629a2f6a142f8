import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { create, toLines } from '../support/client.js';
import { plantStore } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

const plugin = (body: string) => `
  import { appendFileSync, existsSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';
  import { MemoryPlantRepository } from 'plant-store/adapters/memory';
  import { services } from 'plant-store/composition';
  const log = (call) => appendFileSync('garden.log', call + '\\n');
  ${body}`;

/** A plugin that stores plants in memory and records its calls in garden.log. Writes wait for the end of the file `slow`, and those that start while the file `hang` exists hang forever. */
const GARDEN = plugin(`
  class Garden extends MemoryPlantRepository {
    async add(plants) {
      log('add');
      while (existsSync('slow')) await setTimeout(10);
      return existsSync('hang') ? new Promise(() => {}) : super.add(plants);
    }
    async close() {
      log('close');
      await super.close();
    }
  }
  const open = () => {
    log('open');
    return new Garden();
  };
  export default (container) => { container.bind(services.OpenStorage).toConstantValue(open).whenNamed('garden'); };`);

/** A plugin that accepts the token "open sesame", in Base64. */
const VERIFIER = plugin(`
  const verify = async (token) => (token === 'b3BlbiBzZXNhbWU=' ? { subject: 'ali' } : undefined);
  export default async (container) => { container.rebind(services.TokenVerifier).toConstantValue({ verify }); };`);

describe('A plugin', () => {
  const parent = temporaryFolder();
  let folder: string;
  let count = 0;
  beforeEach(() => {
    folder = join(parent, `${++count}`);
    mkdirSync(join(folder, 'node_modules/garden'), { recursive: true });
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    write('package.json', '{"type":"module"}');
    write('node_modules/garden/package.json', '{"name":"garden","type":"module","exports":"./garden.js"}');
    write('node_modules/garden/garden.js', GARDEN);
  });

  const write = (name: string, text: string) => writeFileSync(join(folder, name), text);
  const calls = () => toLines(readFileSync(join(folder, 'garden.log'), 'utf8'));
  const PLUGGED = { PORT: '0', PLUGINS: 'garden', DATABASE_URL: 'garden:' };
  const start = (command: string, environment: Readonly<Record<string, string>> = {}) =>
    plantStore(folder, command.split(' '), { ...PLUGGED, ...environment });

  it('adds a storage with group commit and metrics, which is closed at shutdown', async () => {
    const service = start('serve', { ACCESS_TOKENS: TOKEN, MANAGEMENT_PORT: '0' });
    const port = await service.port();
    const url = `http://127.0.0.1:${await service.managementPort()}/metrics`;
    const readMetrics = async () => (await fetch(url)).text();
    write('slow', '');
    const creates = Array.from({ length: 20 }, (_, index) => create(port, { id: BigInt(index), name: 'Monstera' }));
    await waitUntil('20 creates wait', async () => /^\w+_creates_in_flight 20$/m.test(await readMetrics()));
    rmSync(join(folder, 'slow'));
    for (const response of await Promise.all(creates)) expect(response?.outcome).to.equal(200);
    expect(await readMetrics()).to.match(/^plant_store_\w+\{.*added.*\} 20$/m);
    expect(await service.stop()).to.equal(0);
    expect(calls().filter((call) => call === 'add')).to.have.length.below(20);
    expect([calls()[0], calls().at(-1)]).to.deep.equal(['open', 'close']);
  });

  it('adds a storage: while it hangs, creates get 503, until a write succeeds', async () => {
    const service = start('serve', { ACCESS_TOKENS: TOKEN, STORAGE_TIMEOUT: '1s' });
    const port = await service.port();
    let lastId = 0n;
    const createNext = async () => (await create(port, { id: ++lastId, name: 'Aloe' }))?.outcome;
    write('hang', '');
    expect([await createNext(), await createNext()]).to.deep.equal([50301, 50301]);
    rmSync(join(folder, 'hang'));
    await waitUntil('a create succeeds', async () => (await createNext()) === 200);
  });

  it('adds a storage for import and export, which close it', async () => {
    const { exitCode, stderr } = await start('import').result('{"id":9007199254740993,"name":"é"}\n');
    expect({ exitCode, stderr }).to.deep.equal({
      ...{ exitCode: 0, stderr: '1 plants created, 0 already stored, 0 lines rejected\n' },
    });
    expect(await start('export').result()).to.deep.equal({ exitCode: 0, stdout: '', stderr: '' });
    expect(calls()).to.deep.equal(['open', 'add', 'close', 'open', 'close']);
  });

  it('adds a storage, which is closed if the service cannot listen', async () => {
    const result = await start('serve', { HOST: 'x'.repeat(64), ACCESS_TOKENS: TOKEN }).result();
    expect(result).to.include({ exitCode: 1, stdout: '' });
    expect(calls()).to.deep.equal(['open', 'close']);
  });

  it('replaces the token verifier on any address: it alone decides, and no token is needed or printed', async () => {
    write('verifier.js', VERIFIER);
    for (const tokens of [{}, { ACCESS_TOKENS: TOKEN }]) {
      const settings = { PLUGINS: './verifier.js', HOST: '0.0.0.0', DATABASE_URL: 'memory:', ...tokens };
      const service = start('serve', settings);
      const port = await service.port();
      const sesame = { Authorization: 'Bearer b3BlbiBzZXNhbWU=' };
      expect((await create(port, { id: 1n, name: 'Aloe' }, sesame))?.outcome).to.equal(200);
      expect((await create(port, { id: 2n, name: 'Aloe' }))?.outcome).to.equal(40102);
      expect(service.stdout).not.to.include('Bearer');
    }
  });

  it('adds a storage: the log has the message of its unexpected error, the response has not', async () => {
    write('bad.js', GARDEN.replace("log('add');", "throw new TypeError('the soil is dry');"));
    const service = start('serve', { PLUGINS: './bad.js', ACCESS_TOKENS: TOKEN });
    const response = await create(await service.port(), { id: 1n, name: 'Aloe' });
    expect(response?.outcome).to.equal(50001);
    expect(response?.body).not.to.include('soil');
    await service.waitForOutput(/"error":50001,"err":\{"type":"TypeError","message":"the soil is dry"/);
  });
});
