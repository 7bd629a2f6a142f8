import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { version } from '../../../composition/version.js';
import { beginCreate, create, serve, toLines } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { plantStore } from '../../support/executable.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
import { temporaryFolder } from '../../support/temporary.js';
import { waitUntil } from '../../support/wait-until.js';

/** A `SHUTDOWN_TIMEOUT` that no shutdown reaches, and the maximum time of a shutdown on a busy machine. */
const [LONG_TIMEOUT, MAX_SHUTDOWN_MS] = ['60s', 10_000];
const PLANT = { id: 1n, name: 'Monstera' };

describe('The service', () => {
  const folder = temporaryFolder();

  it('without settings prints a curl command with a random token, and creates ./plants.db for its owner only', async () => {
    const service = plantStore(folder, [], { PORT: '0' }, ['sh', '-c', 'umask 000; exec "$@"', 'sh']);
    const [, url = '', Authorization = '', type = '', body = ''] = await service.waitForOutput(
      /^curl -i (\S+) -H 'Authorization: ([^']+)' -H 'Content-Type: ([^']+)' -d '([^']+)'$/m,
    );
    const response = await fetch(url, { method: 'POST', headers: { Authorization, 'Content-Type': type }, body });
    expect(await response.json()).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    expect((await exchange(await service.port(), request('POST /plants')))?.outcome).to.equal(40101);
    const files = readdirSync(folder);
    expect(files).to.include('plants.db');
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o777, name).to.equal(0o600);
  });

  it('prints its URL but no configured token, logs its start and a mistyped setting, and tells systemd that it is ready', async () => {
    writeFileSync(join(folder, 'systemd-notify'), '#!/bin/sh\necho "$@" >notified\n', { mode: 0o755 });
    const systemd = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: `${folder}:${process.env['PATH']}` };
    const settings = { HOST: '::1', BASE_PATH: '/garden', DATABASE_URL: 'sqlite:new.db' };
    const others = { NODE_OPTIONS: '--trace-deprecation', DATABASE_URI: 'sqlite:garden.db' };
    const service = serve(folder, { ...settings, ...systemd, ...others });
    const url = `http://[::1]:${await service.port()}/garden`;
    await waitUntil('the report to systemd', async () => existsSync(join(folder, 'notified')));
    await service.stop();
    expect(service.stdout).to.equal(`Plant Store listens on ${url}\nAPI documentation: ${url}/docs\n`);
    expect(service.stderr).not.to.contain(TOKEN);
    const lines = toLines(service.stderr).map((line) => JSON.parse(line));
    // A warning of Node; node:sqlite may be experimental.
    const [started, warning, ...rest] = lines.filter(({ type }) => type !== 'ExperimentalWarning');
    expect(rest.filter(({ type }) => type)).to.deep.equal([]);
    expect(started).to.deep.include({
      ...{ level: 'info', msg: 'started', version, node: process.version, schema: 'created', url },
      storage: `sqlite:${join(folder, 'new.db')}`,
    });
    expect(started).to.have.property('driver');
    const msg = 'DATABASE_URI: no such setting; did you mean DATABASE_URL?';
    expect(warning).to.include({ level: 'warn', msg });
  });

  it("logs Node's warnings, and prints no address of /docs if it is off or a plugin replaces the listener", async () => {
    const code = `export default (container) => {
      container.rebind(Symbol.for('plant-store:RequestListener')).toDynamicValue(() => {
        process.emitWarning('no water', 'DryWarning');
        return () => {};
      });
    };`;
    writeFileSync(join(folder, 'listener.mjs'), code);
    const run = async (settings: Readonly<Record<string, string>>) => {
      const service = serve(folder, { DATABASE_URL: 'memory:', ...settings });
      await service.waitForOutput(/"started"/);
      await service.stop();
      expect(service.stdout).to.match(/^Plant Store listens on \S+\n$/);
      return JSON.parse(toLines(service.stderr)[0] ?? '');
    };
    const plugin = { PLUGINS: './listener.mjs', NODE_OPTIONS: '' };
    expect(await run(plugin)).to.include({ level: 'warn', type: 'DryWarning', msg: 'no water' });
    const isDisabled = { NODE_OPTIONS: '--disable-warning=DryWarning' };
    for (const settings of [{ ...plugin, NODE_NO_WARNINGS: '1' }, { ...plugin, ...isDisabled }, { DOCS: 'off' }])
      expect(await run(settings)).to.include({ msg: 'started' });
  });

  it('on SIGTERM finishes the create in flight, leaves one file, and exits with 0 without waiting for its timeout', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:whole.db', SHUTDOWN_TIMEOUT: LONG_TIMEOUT });
    const port = await service.port();
    const idle = await RawClient.connect(port);
    const { finish } = await beginCreate(port, PLANT);
    const start = performance.now();
    service.kill('SIGTERM');
    await idle.ended();
    expect(await finish().readResponse()).to.include({ outcome: 200 });
    expect(await service.exited()).to.equal(0);
    expect(performance.now() - start).to.be.below(MAX_SHUTDOWN_MS);
    expect(readdirSync(folder).filter((name) => name.startsWith('whole.db'))).to.deep.equal(['whole.db']);
    expect(await sqliteStore(join(folder, 'whole.db')).readPlants()).to.deep.equal([PLANT]);
  });

  it('exits with 1 soon after SHUTDOWN_TIMEOUT if a create is left in the storage', async () => {
    const stuck = `export default (container) =>
      container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) =>
        Object.assign(storage, { add: () => new Promise(() => console.log('stuck')) }));`;
    writeFileSync(join(folder, 'stuck.mjs'), stuck);
    const service = serve(folder, { PLUGINS: './stuck.mjs', DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '100ms' });
    void create(await service.port(), PLANT).catch(() => {});
    await service.waitForOutput(/stuck/);
    const start = performance.now();
    expect(await service.stop()).to.equal(1);
    expect(performance.now() - start).to.be.within(100, MAX_SHUTDOWN_MS);
    expect(service.stderr).to.include('"closed":false');
  });

  it('does not end on SIGHUP while it starts, and reads tokens again that it had read', async () => {
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
    const write = (name: string, text = '') => writeFileSync(join(folder, name), text);
    write('slow.mjs', slow);
    write('tokens', 'old-token');
    const settings = { PLUGINS: './slow.mjs', DATABASE_URL: 'memory:', ACCESS_TOKENS_FILE: 'tokens' };
    const service = serve(folder, settings);
    await service.waitForOutput(/loaded/);
    service.kill('SIGHUP');
    write('loaded');
    await service.waitForOutput(/opened/);
    write('tokens', 'new-token');
    await service.kill('SIGHUP').waitForOutput(/"tokens reloaded"/);
    write('opened');
    const created = await create(await service.port(), PLANT, { Authorization: 'Bearer new-token' });
    expect(created).to.include({ outcome: 200 });
    expect(await service.kill('SIGHUP').stop(), 'during a reload').to.equal(0);
  });

  it('logs an uncaught exception without user data, and exits with 1', async () => {
    const failing = "process.on('SIGUSR2', () => { JSON.parse('canary'); }); export default () => {};";
    writeFileSync(join(folder, 'failing.mjs'), failing);
    const service = serve(folder, { PLUGINS: './failing.mjs', DATABASE_URL: 'memory:' });
    await service.port();
    expect(await service.kill('SIGUSR2').exited()).to.equal(1);
    expect(service.stderr).to.match(/"level":"fatal".*"type":"SyntaxError".*"uncaught exception; exiting"/);
  });
});
