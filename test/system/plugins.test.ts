import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { beforeEach, describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/memory/index.js';
import { type Plugin, services } from '../../composition/index.js';
import { create, TOKEN, toLines, toOutcome } from '../support/client.js';
import { CommandFolder } from '../support/command-folder.js';
import { Executable } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { startService } from '../support/service.js';

/** A plugin that stores plants in garden.ndjson, and records its calls in garden.log. */
const GARDEN = `
import { appendFileSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { services } from 'plant-store/composition';
import { Plant } from 'plant-store/core';

const log = (call) => appendFileSync('garden.log', call + '\\n');

class Garden {
  #plants = new Map();
  constructor() {
    log('open');
    const text = existsSync('garden.ndjson') ? readFileSync('garden.ndjson', 'utf8') : '';
    for (const [id, name] of text.split('\\n').filter(Boolean).map((line) => JSON.parse(line))) {
      this.#plants.set(BigInt(id), Plant.from({ id: BigInt(id), name }).plant);
    }
  }
  async add(plants) {
    log('add');
    await setTimeout(20);
    return plants.map((plant) => {
      const holder = this.#plants.get(plant.id);
      if (holder) return { kind: 'taken', holder };
      this.#plants.set(plant.id, plant);
      appendFileSync('garden.ndjson', JSON.stringify([String(plant.id), plant.name]) + '\\n');
      return { kind: 'added' };
    });
  }
  async *readAll() {
    yield [...this.#plants.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }
  async ready() {}
  async close() {
    log('close');
  }
}

export default (container) => {
  container.rebind(services.Storage).toDynamicValue(() => new Garden()).inSingletonScope();
};
`;

/** A plugin that accepts the token "open sesame", in Base64. */
const VERIFIER = `
import { services } from 'plant-store/composition';
export default async (container) => {
  const verify = async (token) => (token === 'b3BlbiBzZXNhbWU=' ? { subject: 'ali' } : undefined);
  container.rebind(services.TokenVerifier).toConstantValue({ verify });
};
`;
const SESAME = { Authorization: 'Bearer b3BlbiBzZXNhbWU=' };

describe('A plugin', () => {
  const commands = new CommandFolder();
  let folder: string;
  let count = 0;
  beforeEach(() => {
    folder = join(commands.path, `plugin-${++count}`);
    mkdirSync(join(folder, 'node_modules'), { recursive: true });
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    write('garden.js', GARDEN);
    write('verifier.js', VERIFIER);
    write('package.json', '{"type":"module"}');
  });

  function write(name: string, text: string): void {
    writeFileSync(join(folder, name), text);
  }
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');

  async function run(args: readonly string[], environment: Readonly<Record<string, string>> = {}, input = '') {
    const program = new Executable(folder, args, { PORT: '0', PLUGINS: './garden.js', ...environment });
    program.process.stdin?.on('error', () => {});
    program.process.stdin?.end(input);
    return { exitCode: await program.exited(), stdout: program.stdout, stderr: program.stderr };
  }
  const serve = (environment: Readonly<Record<string, string>>) =>
    new Executable(folder, ['serve'], { PORT: '0', ...environment });

  describe('that replaces the storage', () => {
    it('keeps group commit and metrics; the storage is closed at shutdown', async () => {
      const environment = { PLUGINS: './garden.js', ACCESS_TOKENS: TOKEN, MANAGEMENT_PORT: '0' };
      const service = serve(environment);
      const port = await service.port();
      const ids = Array.from({ length: 20 }, (_, index) => BigInt(index));
      const outcomes = await Promise.all(
        ids.map(async (id) => toOutcome(await create(port, { id, name: 'Monstera' }))),
      );
      expect(new Set(outcomes)).to.deep.equal(new Set([200]));
      expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(40902);

      const metrics = await (await fetch(`http://127.0.0.1:${await service.managementPort()}/metrics`)).text();
      expect(metrics).to.match(/^plant_store_\w+\{.*added.*\} 20$/m);
      expect(await service.kill('SIGTERM').exited()).to.equal(0);
      const calls = toLines(read('garden.log'));
      expect(calls.filter((call) => call === 'add')).to.have.length.below(20);
      expect([calls[0], calls.at(-1)]).to.deep.equal(['open', 'close']);
    });

    it('works with import, --json and --rejects, and with export', async () => {
      const input = '{"id":9007199254740993,"name":"é"}\nno JSON\n{"id":-1,"name":"Aloe"}\n';
      const imported = await run(['import', '--json', '--rejects', 'rejects.ndjson'], {}, input);
      expect(imported.exitCode).to.equal(1);
      expect(JSON.parse(imported.stdout)).to.deep.equal({ created: 2, alreadyStored: 0, rejected: 1 });
      expect(JSON.parse(read('rejects.ndjson'))).to.include({ line: 2, error: 40001 });
      expect(await run(['export'])).to.deep.equal({
        exitCode: 0,
        stdout: '{"id":-1,"name":"Aloe"}\n{"id":9007199254740993,"name":"é"}\n',
        stderr: '',
      });
      expect(toLines(read('garden.log'))).to.deep.equal(['open', 'add', 'close', 'open', 'close']);
    });

    it('has its storage opened by migrate, but not with --dry-run', async () => {
      const result = { exitCode: 0, stdout: 'the schema is up to date\n', stderr: '' };
      expect(await run(['migrate', '--dry-run'])).to.deep.equal(result);
      expect(readdirSync(folder)).not.to.include('garden.log');
      expect(await run(['migrate'])).to.deep.equal(result);
      expect(toLines(read('garden.log'))).to.deep.equal(['open', 'close']);
    });

    for (const command of ['serve', 'import', 'export', 'migrate']) {
      it(`keeps ${command} from opening the database of DATABASE_URL`, async () => {
        const environment = { DATABASE_URL: 'sqlite:no/plants.db', PLUGINS: './garden.js', ACCESS_TOKENS: TOKEN };
        if (command === 'serve') {
          const service = serve(environment);
          await service.port();
          await service.kill('SIGTERM').exited();
        } else expect((await run([command], environment)).exitCode).to.equal(0);
        expect(readdirSync(folder)).to.include('garden.log').and.not.include('no');
      });
    }

    it('still requires a token on an address that is not loopback', async () => {
      const { exitCode, stderr } = await run(['serve'], { HOST: '0.0.0.0' });
      expect(exitCode).to.equal(78);
      expect(stderr).to.match(/^plant-store: ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set: .*\n$/);
    });

    it('has its storage closed if the start fails', async () => {
      const first = serve({ PLUGINS: './garden.js' });
      const PORT = `${await first.port()}`;
      writeFileSync(join(folder, 'garden.log'), '');
      expect((await run(['serve'], { PORT })).exitCode).to.equal(1);
      expect(toLines(read('garden.log'))).to.deep.equal(['open', 'close']);
    });
  });

  describe('that replaces the token verifier', () => {
    for (const host of ['127.0.0.1', '0.0.0.0']) {
      it(`authenticates clients on ${host}; no token is configured or printed`, async () => {
        const service = serve({ PLUGINS: './verifier.js', HOST: host, DATABASE_URL: 'memory:' });
        const port = await service.port();
        expect(toOutcome(await create(port, { id: 1n, name: 'Aloe' }, SESAME))).to.equal(200);
        expect(toOutcome(await create(port, { id: 2n, name: 'Aloe' }))).to.equal(40102);
        expect(toOutcome(await create(port, { id: 2n, name: 'Aloe' }, { Authorization: '' }))).to.equal(40101);
        expect(service.stdout).not.to.include('Bearer');
      });
    }

    it('alone decides, even if ACCESS_TOKENS is set', async () => {
      const service = serve({ PLUGINS: './verifier.js', ACCESS_TOKENS: TOKEN, DATABASE_URL: 'memory:' });
      expect(toOutcome(await create(await service.port(), { id: 1n, name: 'Aloe' }))).to.equal(40102);
    });
  });

  describe('is loaded', () => {
    it('with the flag --plugins', async () => {
      expect((await run(['export', '--plugins', './garden.js'], { PLUGINS: './missing.js' })).exitCode).to.equal(0);
    });

    it('from an absolute path', async () => {
      expect((await run(['export'], { PLUGINS: join(folder, 'garden.js') })).exitCode).to.equal(0);
    });

    it('from a package in the working directory', async () => {
      const place = join(folder, 'node_modules/garden');
      mkdirSync(place);
      writeFileSync(join(place, 'package.json'), '{"name":"garden","type":"module","exports":"./garden.js"}');
      writeFileSync(join(place, 'garden.js'), GARDEN);
      expect(await run(['export'], { PLUGINS: 'garden' })).to.include({ exitCode: 0, stderr: '' });
      expect(toLines(read('garden.log'))).to.deep.equal(['open', 'close']);
    });

    it('after the plugins before it in the list', async () => {
      write(
        'audit.js',
        `
        import { services } from 'plant-store/composition';
        export default async (container) => {
          const inner = await container.getAsync(services.Storage);
          const readAll = () => { console.error('audited'); return inner.readAll(); };
          const audit = { add: (plants) => inner.add(plants), readAll, ready: () => inner.ready(), close: () => inner.close() };
          container.rebind(services.Storage).toConstantValue(audit);
        };`,
      );
      const { exitCode, stderr } = await run(['export'], { PLUGINS: './garden.js, ./audit.js' });
      expect({ exitCode, stderr }).to.deep.equal({ exitCode: 0, stderr: 'audited\n' });
      expect(toLines(read('garden.log'))).to.deep.equal(['open', 'close']);
    });

    it('with the settings and the logger of the service', async () => {
      write(
        'talk.js',
        `
        import { services } from 'plant-store/composition';
        export default async (container) => {
          const { storageTimeoutMs } = await container.getAsync(services.Config);
          (await container.getAsync(services.Logger)).info({ storageTimeoutMs }, 'talk');
        };`,
      );
      const environment = { PLUGINS: './talk.js', DATABASE_URL: 'memory:', STORAGE_TIMEOUT: '7s' };
      const { stderr } = await run(['export'], environment);
      expect(JSON.parse(stderr)).to.include({ msg: 'talk', storageTimeoutMs: 7000 });
      expect((await run(['export'], { ...environment, LOG_LEVEL: 'warn' })).stderr).to.equal('');
    });
  });

  it('that sets no scope binds a singleton', async () => {
    write('scope.js', GARDEN.replace('.inSingletonScope()', ''));
    expect(await run(['export'], { PLUGINS: './scope.js' })).to.include({ exitCode: 0 });
    write(
      'twice.js',
      `
      import { services } from 'plant-store/composition';
      export default async (container) => {
        container.rebind(services.Storage).toDynamicValue(() => ({}));
        const [one, two] = [await container.getAsync(services.Storage), await container.getAsync(services.Storage)];
        throw new Error(one === two ? 'one instance' : 'two instances');
      };`,
    );
    expect((await run(['export'], { PLUGINS: './twice.js' })).stderr).to.include(': one instance\n');
  });

  it('that replaces only the database is used by import, export and migrate', async () => {
    write(
      'other.js',
      `
      import { services } from 'plant-store/composition';
      import { sqliteDatabase } from 'plant-store/adapters/knex';
      const database = sqliteDatabase({ path: './other.db', timeoutMs: 5000 });
      export default (container) => { container.rebind(services.Database).toConstantValue(database); };`,
    );
    const environment = { PLUGINS: './other.js', DATABASE_URL: 'sqlite:./missing.db' };
    write('plants.ndjson', '{"id":1,"name":"Monstera"}\n');
    expect(await run(['import', 'plants.ndjson'], environment)).to.include({ exitCode: 0 });
    expect(await run(['export'], environment)).to.include({ exitCode: 0, stdout: '{"id":1,"name":"Monstera"}\n' });
    expect((await run(['migrate', '--dry-run'], environment)).stdout).to.equal('the schema is up to date\n');
  });

  it('whose storage fails does not reveal the error message', async () => {
    write(
      'bad.js',
      `
      import { MemoryPlantRepository } from 'plant-store/adapters/memory';
      import { services } from 'plant-store/composition';
      const add = async () => { throw new TypeError('name of a plant'); };
      export default (container) => {
        container.rebind(services.Storage).toConstantValue(Object.assign(new MemoryPlantRepository(), { add }));
      };`,
    );
    write('plants.ndjson', '{"id":1,"name":"Monstera"}\n');
    const { exitCode, stderr } = await run(['import', 'plants.ndjson'], { PLUGINS: './bad.js' });
    expect(exitCode).to.equal(1);
    expect(stderr).to.include('plant-store: internal error').and.not.include('name of a plant');
  });

  describe('stops the start with exit code 78 and one line if it', () => {
    const rebind = (binding: string) => `
      import { services } from 'plant-store/composition';
      export default (container) => { container.rebind(services.Storage)${binding}; };`;
    const failures = [
      ['is missing', undefined, "Cannot find module './bad.js'"],
      [
        'imports a missing package',
        "import 'no-such-package';",
        "Cannot find package 'no-such-package' imported from .*",
      ],
      ['is not JavaScript', 'export default (', '.+'],
      ['throws while it is loaded', "throw new Error('first\\nsecond');", 'first'],
      ['has no default export', 'export const plugin = () => {};', 'its default export is not a function'],
      ['exports an object', 'export default {};', 'its default export is not a function'],
      ['throws', "export default () => { throw new Error('no water'); };", 'no water'],
      ['throws a string', "export default () => { throw 'no water'; };", 'no water'],
      ['throws an object', 'export default () => { throw Object.create(null); };', 'it failed without a message'],
      ['returns a promise that rejects', "export default async () => { throw new Error('no water'); };", 'no water'],
      ['leaves the storage unbound', rebind(''), '.*plant-store:Storage.*'],
      [
        'binds nothing to the storage',
        rebind('.toConstantValue(undefined)'),
        'services.Storage lacks these methods: add, .*',
      ],
      [
        'binds an object without the methods of a repository',
        rebind('.toConstantValue({ async add() {}, async ready() {} })'),
        'services.Storage lacks these methods: readAll, close',
      ],
      ['fails to open its storage', rebind(".toDynamicValue(async () => { throw new Error('no soil'); })"), 'no soil'],
    ] as const;
    for (const [index, [what, text, reason]] of failures.entries()) {
      const command = ['serve', 'import', 'export', 'migrate'][index % 4] ?? '';
      it(`${what} (${command})`, async () => {
        if (text !== undefined) write('bad.js', text);
        const { exitCode, stdout, stderr } = await run([command], { PLUGINS: './bad.js' });
        expect({ exitCode, stdout }, stderr).to.deep.equal({ exitCode: 78, stdout: '' });
        expect(stderr).to.match(RegExp(`^plant-store: PLUGINS="\\./bad\\.js": ${reason}\n$`));
      });
    }

    it('binds a verifier without its method; the storage is closed', async () => {
      write(
        'bad.js',
        `
        import { services } from 'plant-store/composition';
        export default (container) => { container.rebind(services.TokenVerifier).toConstantValue({}); };`,
      );
      const { exitCode, stderr } = await run(['serve'], { PLUGINS: './garden.js,./bad.js' });
      expect(exitCode).to.equal(78);
      expect(stderr).to.equal(
        'plant-store: PLUGINS="./garden.js,./bad.js": services.TokenVerifier lacks these methods: verify\n',
      );
      expect(toLines(read('garden.log'))).to.deep.equal(['open', 'close']);
    });
  });

  it('whose storage is unavailable fails the start with exit code 1 and the error message', async () => {
    write(
      'bad.js',
      `
      import { services } from 'plant-store/composition';
      import { StorageUnavailable } from 'plant-store/core';
      const open = async () => { throw new StorageUnavailable('cannot open the garden: it is winter'); };
      export default (container) => { container.rebind(services.Storage).toDynamicValue(open); };`,
    );
    for (const command of ['serve', 'import', 'export', 'migrate']) {
      expect(await run([command], { PLUGINS: './bad.js' })).to.deep.equal({
        exitCode: 1,
        stdout: '',
        stderr: 'plant-store: cannot open the garden: it is winter\n',
      });
    }
  });

  it('is typed: a program can run a plugin on its own container', async () => {
    const repository = new MemoryPlantRepository();
    const plugin: Plugin = (container) => {
      container.rebind(services.Storage).toConstantValue(repository);
    };
    const service = await startService({}, plugin);
    expect(
      toOutcome(await create(service.port, { id: 1n, name: 'Aloe' }, { Authorization: 'Bearer test-token' })),
    ).to.equal(200);
    await service.stop();
  });
});
