import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loadSqliteDriver } from '../../../adapters/driven/knex/sqlite.js';
import { readVersion } from '../../../composition/version.js';
import { beginCreate, serve, toLines } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { type Program, plantStore } from '../../support/executable.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
import { temporaryFolder } from '../../support/temporary.js';
import { waitUntil } from '../../support/wait-until.js';

/** A `SHUTDOWN_TIMEOUT` that no shutdown reaches, and the maximum time of a shutdown on a busy machine. */
const [LONG_TIMEOUT, MAX_SHUTDOWN_MS] = ['60s', 10_000];
const PLANT = { id: 1n, name: 'Monstera' };

describe('The service', () => {
  const folder = temporaryFolder();

  it('without settings prints a curl command with a new token, and creates ./plants.db for its owner only', async () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    const start = () => plantStore(empty, [], { PORT: '0' }, ['sh', '-c', 'umask 000; exec "$@"', 'sh']);
    /** Runs the curl command that a service prints. */
    const runCommand = async (service: Program) => {
      const [, url = '', Authorization = '', type = '', body = ''] = await service.waitForOutput(
        /^curl -i (\S+) -H 'Authorization: ([^']+)' -H 'Content-Type: ([^']+)' -d '([^']+)'$/m,
      );
      const response = await fetch(url, { method: 'POST', headers: { Authorization, 'Content-Type': type }, body });
      return { Authorization, response: await response.json() };
    };
    const service = start();
    const { Authorization, response } = await runCommand(service);
    expect(Authorization).to.match(/^Bearer [\w-]{22,}$/);
    expect(response).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    expect((await exchange(await service.port(), request('POST /plants')))?.outcome).to.equal(40101);
    const stored = await sqliteStore(join(empty, 'plants.db')).readPlants();
    expect(stored).to.deep.equal([{ id: 1n, name: 'Monstera', tag: 'indoor' }]);
    const files = readdirSync(empty);
    expect(files).to.have.members(['plants.db', 'plants.db-wal', 'plants.db-shm']);
    for (const name of files) expect(statSync(join(empty, name)).mode & 0o777, name).to.equal(0o600);

    await service.stop();
    const again = await runCommand(start());
    expect(again.response).to.include({ error: 40902 });
    expect(again.Authorization).not.to.equal(Authorization);
  });

  it('prints its URL but no configured token, and logs the new store, its own start, and no warning', async () => {
    const NODE_OPTIONS = '--trace-deprecation --trace-warnings';
    const settings = { HOST: '0.0.0.0', BASE_PATH: '/garden', DATABASE_URL: 'sqlite:new.db', NODE_OPTIONS };
    const service = serve(folder, settings);
    const port = await service.port();
    await exchange(port, request('GET /garden/openapi.json'));
    await service.stop();
    const url = `http://0.0.0.0:${port}/garden`;
    expect(service.stdout).to.equal(`Plant Store listens on ${url}\nAPI documentation: ${url}/docs\n`);
    expect(service.stderr).not.to.contain(TOKEN);
    // Throws for a warning of Node.
    const [created, started] = toLines(service.stderr).map((line) => JSON.parse(line));
    const storage = `sqlite:${join(folder, 'new.db')}`;
    expect(created).to.include({ level: 'info', msg: 'created a new, empty store', storage });
    expect(started).to.deep.include({
      ...{ level: 'info', msg: 'started', version: readVersion(), node: process.version, storage },
      ...{ driver: loadSqliteDriver()?.name, schema: 'created', url },
    });
  });

  it('has metrics of its connections, its storage and its tokens file', async () => {
    const file = join(folder, 'tokens');
    const startedAt = Date.now() / 1000;
    writeFileSync(file, 'token-1-of-the-tests\n');
    const service = plantStore(folder, [], { PORT: '0', MANAGEMENT_PORT: '0', ACCESS_TOKENS_FILE: file });
    const management = await service.managementPort();
    const read = async (name: string) => {
      const text = await (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
      return Number(RegExp(`^plant_store_${name} (.*)$`, 'm').exec(text)?.[1]);
    };

    expect(await read('http_connections')).to.equal(0);
    const client = await RawClient.connect(await service.port());
    await waitUntil('the connection is counted', async () => (await read('http_connections')) === 1);
    client.close();
    expect(await read('storage_connections_limit')).to.equal(1);
    expect(await read('storage_size_bytes')).to.be.above(4096);
    expect(await read('storage_log_size_bytes')).to.be.above(0);

    const loadedAt = await read('tokens_last_reload_success_timestamp_seconds');
    expect(loadedAt).to.be.within(startedAt, Date.now() / 1000);
    for (const [text, output, isValid] of [
      ['not a token\n', /keeping the previous tokens/, 0],
      ['token-2-of-the-tests\n', /ACCESS_TOKENS_FILE reloaded/, 1],
    ] as const) {
      writeFileSync(file, text);
      await service.kill('SIGHUP').waitForOutput(output);
      expect(await read('tokens_last_reload_successful')).to.equal(isValid);
      expect((await read('tokens_last_reload_success_timestamp_seconds')) > loadedAt).to.equal(isValid === 1);
    }
  });

  it('on SIGTERM closes idle connections, accepts no new one, finishes the create in flight, leaves one file, and exits with 0', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:whole.db', SHUTDOWN_TIMEOUT: LONG_TIMEOUT });
    const port = await service.port();
    const unused = await RawClient.connect(port);
    const idle = await RawClient.connect(port);
    await idle.send(request('GET /plants')).readResponse();
    const { finish } = await beginCreate(port, PLANT);
    const start = performance.now();
    service.kill('SIGTERM');
    await Promise.all([unused.ended(), idle.ended()]);
    const rejected = await RawClient.connect(port).catch((error: NodeJS.ErrnoException) => error.code);
    expect(rejected).to.equal('ECONNREFUSED');
    const response = await finish().readResponse();
    expect(response).to.include({ outcome: 200 }).and.to.have.nested.property('headers.connection', 'close');
    expect(await service.exited()).to.equal(0);
    expect(performance.now() - start).to.be.below(MAX_SHUTDOWN_MS);
    expect(readdirSync(folder).filter((name) => name.startsWith('whole.db'))).to.deep.equal(['whole.db']);
    expect(await sqliteStore(join(folder, 'whole.db')).readPlants()).to.deep.equal([PLANT]);
  });

  for (const [what, method, outcome] of [
    ['the storage does not close, even if every create has its response', 'close', '"finished":true,"closed":false'],
    ['a create has no response, even if the storage closes', 'add', '"finished":false,"closed":true'],
  ] as const) {
    it(`waits at most SHUTDOWN_TIMEOUT, and exits with 1, if ${what}`, async () => {
      const neverReturn = `export default (container) => {
        container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) =>
          Object.assign(storage, { ${method}: () => new Promise(() => {}) }));
      };`;
      writeFileSync(join(folder, 'stuck.mjs'), neverReturn);
      const service = serve(folder, { PLUGINS: './stuck.mjs', DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '500ms' });
      const { finish } = await beginCreate(await service.port(), PLANT);
      finish();
      const start = performance.now();
      expect(await service.stop()).to.equal(1);
      expect(performance.now() - start).to.be.within(500, MAX_SHUTDOWN_MS);
      expect(service.stderr).to.include(outcome);
    });
  }

  it('treats signals within 200 ms as one, and exits at once with 128 + the number of a later one', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: LONG_TIMEOUT });
    await beginCreate(await service.port(), PLANT);
    // The service receives both when it continues. A second signal would end it with 143.
    for (const signal of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) service.kill(signal);
    await service.waitForOutput(/"stopping"/);
    await setTimeout(300);
    expect(await service.kill('SIGINT').exited()).to.equal(130);
  });

  it('stops on a signal that arrives while startup occupies the event loop', () => {
    const { href } = new URL('../../../composition/cli/signals.js', import.meta.url);
    const script = `import { exitOnSignals, onStop } from ${JSON.stringify(href)};
      exitOnSignals();
      process.kill(process.pid, 'SIGTERM');
      onStop((signal) => console.log(signal));
      setTimeout(() => {}, 100);`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stdout).to.equal('SIGTERM\n');
  });

  it('does not stop on SIGHUP, SIGUSR1 or SIGUSR2, which switches the log level', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:' });
    await service.port();
    await service.kill('SIGHUP').waitForOutput(/ACCESS_TOKENS_FILE is not set; nothing to reload/);
    service.kill('SIGUSR1').kill('SIGUSR2');
    await service.waitForOutput(/"logLevel":"debug","msg":"log level changed"/);
    await service.kill('SIGUSR2').waitForOutput(/"logLevel":"info","msg":"log level changed"/);
    expect(service.stderr).to.not.include('Debugger');
  });
});
