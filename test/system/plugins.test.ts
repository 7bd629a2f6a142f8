import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { create, readiness, toLines } from '../support/client.js';
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

  it('adds a storage: while it hangs, creates get 503 and the service is not ready, until a write succeeds', async () => {
    const service = start('serve', { ACCESS_TOKENS: TOKEN, MANAGEMENT_PORT: '0', STORAGE_TIMEOUT: '1s' });
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    let lastId = 0n;
    const createNext = async () => (await create(port, { id: ++lastId, name: 'Aloe' }))?.outcome;
    expect(await readiness(managementPort)).to.equal('200 ok');
    write('hang', '');
    expect([await createNext(), await createNext()]).to.deep.equal([50301, 50301]);
    expect(await readiness(managementPort)).to.equal('503 unavailable');
    rmSync(join(folder, 'hang'));
    await waitUntil('a create succeeds', async () => (await createNext()) === 200);
    expect(await readiness(managementPort)).to.equal('200 ok');
  });

  it('adds a storage for import, export and migrate, which close it', async () => {
    const { stderr } = await start('import').result('{"id":9007199254740993,"name":"é"}\nno JSON\n');
    expect(stderr).to.match(/^\{"line":2,"error":40001,.*\n1 plant created, 0 already stored, 1 line rejected$/m);
    expect(await start('export').result()).to.deep.equal({ exitCode: 0, stdout: '', stderr: '' });
    for (const command of ['migrate', 'migrate --dry-run'])
      expect((await start(command).result()).stdout).to.match(/^this storage has no migrations;/);
    expect(calls().filter((call) => call !== 'add')).to.deep.equal(Array(3).fill(['open', 'close']).flat());
  });

  for (const [what, environment, exitCode] of [
    ['another plugin adds a verifier without its method', { PLUGINS: 'garden,./bad.js' }, 78],
    ['the service cannot listen', { HOST: 'x'.repeat(64) }, 1],
  ] as const) {
    it(`adds a storage, which is closed if ${what}`, async () => {
      write('bad.js', VERIFIER.replace('{ verify }', '{}'));
      const result = await start('serve', { ...environment, ACCESS_TOKENS: TOKEN }).result();
      expect(result).to.include({ exitCode, stdout: '' });
      expect(result.stderr).to.match(/^plant-store: .*(TokenVerifier|HOST).*\n$/);
      expect(calls()).to.deep.equal(['open', 'close']);
    });
  }

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

  it('adds a storage whose unexpected error is reported with its message', async () => {
    write('bad.js', GARDEN.replace("log('add');", "throw new TypeError('the soil is dry');"));
    const { exitCode, stderr } = await start('import', { PLUGINS: './bad.js' }).result('{"id":1,"name":"Monstera"}\n');
    expect(exitCode).to.equal(1);
    expect(stderr).to.match(/^plant-store: internal error[\s\S]*the soil is dry/m);
  });

  it('that cannot be used stops an import before it overwrites the file for rejected lines', async () => {
    write('bad.js', 'export default {};');
    write('rejects.ndjson', 'earlier\n');
    const { exitCode, stderr } = await start('import --rejects rejects.ndjson', { PLUGINS: './bad.js' }).result();
    expect(exitCode).to.equal(78);
    expect(stderr).to.equal('plant-store: PLUGINS="./bad.js": its default export is not a function\n');
    expect(readFileSync(join(folder, 'rejects.ndjson'), 'utf8')).to.equal('earlier\n');
  });

  for (const command of ['serve', 'import', 'export', 'migrate']) {
    it(`that is still loading does not keep ${command} from ending at a signal, even as process 1 of a container`, async () => {
      write('slow.js', "console.error('loading'); await new Promise(() => {});");
      const program = start(command, { PLUGINS: './slow.js' });
      await program.waitForOutput(/loading/);
      // An exit code shows that a handler ended the process: the kernel ignores other signals to process 1.
      expect(await program.stop()).to.equal(143);
    });
  }
});
