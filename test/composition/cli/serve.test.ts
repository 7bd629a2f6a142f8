import { once } from 'node:events';
import { mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { version } from '../../../composition/config.js';
import { beginCreate, create, serve, toLines } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { type Program, plantStore } from '../../support/executable.js';
import { portOf } from '../../support/port.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
import { temporaryFolder } from '../../support/temporary.js';

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
    expect(response).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    expect((await exchange(await service.port(), request('POST /plants')))?.outcome).to.equal(40101);
    for (const name of readdirSync(empty)) expect(statSync(join(empty, name)).mode & 0o777, name).to.equal(0o600);
    await service.stop();
    const again = await runCommand(start());
    expect(again.response).to.include({ error: 40902 });
    expect(again.Authorization).not.to.equal(Authorization);
  });

  it('prints its URL but no configured token, and logs its start and no warning', async () => {
    const NODE_OPTIONS = '--trace-deprecation --trace-warnings';
    const settings = { HOST: '::1', BASE_PATH: '/garden', DATABASE_URL: 'sqlite:new.db', NODE_OPTIONS };
    const service = serve(folder, settings);
    const url = `http://[::1]:${await service.port()}/garden`;
    expect((await fetch(`${url}/openapi.json`)).status).to.equal(200);
    await service.stop();
    expect(service.stdout).to.equal(`Plant Store listens on ${url}\nAPI documentation: ${url}/docs\n`);
    expect(service.stderr).not.to.contain(TOKEN);
    // Throws for a warning of Node.
    const [started] = toLines(service.stderr).map((line) => JSON.parse(line));
    expect(started).to.deep.include({
      ...{ level: 'info', msg: 'started', version, node: process.version, schema: 'created', url },
      storage: `sqlite:${join(folder, 'new.db')}`,
    });
    expect(started).to.have.property('driver');
  });

  for (const prefix of ['', 'MANAGEMENT_']) {
    it(`exits with 1 and names the address if ${prefix}PORT is in use`, async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const port = portOf(other);
      const result = await serve(folder, { DATABASE_URL: 'memory:', [`${prefix}PORT`]: `${port}` }).result();
      other.close();
      const stderr = `plant-store: listen EADDRINUSE: address already in use 127.0.0.1:${port}\n`;
      expect(result).to.deep.equal({ exitCode: 1, stdout: '', stderr });
    });
  }

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

  it('exits with 0 after SHUTDOWN_TIMEOUT if a client stalls', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '500ms' });
    await beginCreate(await service.port(), PLANT);
    expect(await service.stop()).to.equal(0);
  });

  for (const [what, method] of [
    ['the storage does not close', 'close'],
    ['a create is left in the storage', 'add'],
  ] as const) {
    it(`exits with 1 soon after SHUTDOWN_TIMEOUT if ${what}`, async () => {
      const neverReturn = `export default (container) => {
        container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) =>
          Object.assign(storage, { ${method}: () => new Promise(() => console.log('stuck')) }));
      };`;
      writeFileSync(join(folder, 'stuck.mjs'), neverReturn);
      const service = serve(folder, { PLUGINS: './stuck.mjs', DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '500ms' });
      void create(await service.port(), PLANT).catch(() => {});
      if (method === 'add') await service.waitForOutput(/stuck/);
      const start = performance.now();
      expect(await service.stop()).to.equal(1);
      expect(performance.now() - start).to.be.within(500, MAX_SHUTDOWN_MS);
      expect(service.stderr).to.include('"closed":false');
    });
  }

  it('does not end on SIGHUP while it starts, unlike other commands, and reads tokens again that it had read', async () => {
    const slow = `
      import { existsSync } from 'node:fs';
      import { setTimeout } from 'node:timers/promises';
      const until = async (step) => {
        console.log(step);
        while (!existsSync(step)) await setTimeout(10);
      };
      export default async (container) => {
        await until('loaded');
        container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) => until('opened').then(() => storage));
      };`;
    writeFileSync(join(folder, 'slow.mjs'), slow);
    writeFileSync(join(folder, 'tokens'), 'old-token');
    const settings = { PLUGINS: './slow.mjs', DATABASE_URL: 'memory:', ACCESS_TOKENS_FILE: 'tokens' };
    const [check, service] = [plantStore(folder, ['check'], settings), serve(folder, settings)];
    for (const program of [check, service]) {
      await program.waitForOutput(/loaded/);
      program.kill('SIGHUP');
    }
    expect(await check.exited()).to.equal('SIGHUP');
    writeFileSync(join(folder, 'loaded'), '');
    await service.waitForOutput(/opened/);
    writeFileSync(join(folder, 'tokens'), 'new-token');
    await service.kill('SIGHUP').waitForOutput(/"tokens reloaded"/);
    writeFileSync(join(folder, 'opened'), '');
    expect(await create(await service.port(), PLANT, { Authorization: 'Bearer new-token' })).to.include({
      outcome: 200,
    });
    expect(await service.kill('SIGHUP').stop(), 'during a reload').to.equal(0);
  });

  it('ends on SIGTERM, or after ten seconds, if a tokens file does not respond, as on a dead mount', async () => {
    // A read of standard input blocks a thread of Node's, as one of that file would.
    const block = `
      import { promises, read } from 'node:fs';
      import { syncBuiltinESMExports } from 'node:module';
      promises.open = () => (console.log('reading'), new Promise(() => read(0, () => {})));
      syncBuiltinESMExports();`;
    writeFileSync(join(folder, 'block.mjs'), block);
    const settings = { NODE_OPTIONS: '--import ./block.mjs', ACCESS_TOKENS_FILE: 'tokens' };
    const [service, waiting] = [serve(folder, settings), serve(folder, settings)];
    await service.waitForOutput(/reading/);
    expect(await service.stop()).to.equal('SIGTERM');
    expect(await waiting.exited()).to.equal('SIGKILL');
    expect(waiting.stderr).to.equal('plant-store: ACCESS_TOKENS_FILE: no result within 10 seconds\n');
  });
});
