import { spawnSync } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { beginCreate, serve } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { RawClient, request } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';

/** A `SHUTDOWN_TIMEOUT` that no shutdown reaches, and the maximum time of a shutdown on a busy machine. */
const [LONG_TIMEOUT, MAX_SHUTDOWN_MS] = ['60s', 10_000];
const PLANT = { id: 1n, name: 'Monstera' };

describe('Stopping the service', () => {
  const folder = temporaryFolder();

  it('closes idle connections, accepts no new one, finishes the create in flight, leaves one file, and exits with 0', async () => {
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

  it('treats signals within 200 ms as one, and exits at once with 128 + n on a later one', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: LONG_TIMEOUT });
    await beginCreate(await service.port(), PLANT);
    // The service receives both when it continues. A second signal would end it with 143.
    for (const signal of ['SIGSTOP', 'SIGINT', 'SIGTERM', 'SIGCONT'] as const) service.kill(signal);
    await service.waitForOutput(/"stopping"/);
    await setTimeout(300);
    expect(await service.kill('SIGINT').exited()).to.equal(130);
  });

  it('follows a signal that arrives while startup occupies the event loop', () => {
    const { href } = new URL('../../../composition/cli/signals.js', import.meta.url);
    const script = `import { exitOnSignals, onStop } from ${JSON.stringify(href)};
      exitOnSignals();
      process.kill(process.pid, 'SIGTERM');
      onStop((signal) => console.log(signal));
      setTimeout(() => {}, 100);`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stdout).to.equal('SIGTERM\n');
  });

  it('does not follow SIGHUP and SIGUSR1, nor SIGUSR2, which switches the log level', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:' });
    await service.port();
    await service.kill('SIGHUP').waitForOutput(/ACCESS_TOKENS_FILE is not set; nothing to reload/);
    service.kill('SIGUSR1').kill('SIGUSR2');
    await service.waitForOutput(/"logLevel":"debug","msg":"log level changed"/);
    await service.kill('SIGUSR2').waitForOutput(/"logLevel":"info","msg":"log level changed"/);
    expect(service.stderr).to.not.include('Debugger');
  });
});
