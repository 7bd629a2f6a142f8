import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { version } from '../../../composition/version.js';
import { beginCreate, create, exchange, RawClient, request, serve, TOKEN, toLines } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { plantStore } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { temporaryFolder } from '../../support/temporary.js';
import { waitUntil } from '../../support/wait-until.js';

const PLANT = { id: 1n, name: 'Monstera' };
/** A plugin that emits a warning when the service opens its storage. */
const WARN = `export default (container) =>
  container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) => {
    process.emitWarning('no water', 'DryWarning');
    return storage;
  });`;

describe('The service', () => {
  const folder = temporaryFolder();
  const write = (name: string, text: string, mode?: number) => writeFileSync(join(folder, name), text, { mode });

  it('without settings prints a curl command with a random token, and creates ./plants.db for its owner only', async () => {
    const service = plantStore(folder, [], { PORT: '0' }, ['sh', '-c', 'umask 000; exec "$@"', 'sh']);
    const [, url = '', Authorization = '', type = '', body = ''] = await service.waitForOutput(
      /^curl -i (\S+) -H 'Authorization: ([^']+)' -H 'Content-Type: ([^']+)' -d '([^']+)'$/m,
    );
    const response = await fetch(url, { method: 'POST', headers: { Authorization, 'Content-Type': type }, body });
    expect(await response.json()).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    expect(await exchange(await service.port(), request('POST /plants'))).to.include({ outcome: 40101 });
    const files = readdirSync(folder);
    expect(files).to.include('plants.db');
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o777, name).to.equal(0o600);
  });

  it('prints no random token if a plugin verifies tokens', async () => {
    write('tokens.txt', 'ali');
    const PLUGINS = inRepository('docs/examples/plugins/token-verifier.js');
    const service = serve(folder, { PLUGINS, ACCESS_TOKENS: '', DATABASE_URL: 'memory:' });
    await service.port();
    expect(service.stdout).not.to.include('random token');
  });

  it('prints its URL but no configured token, logs its start and warnings, and tells systemd that it is ready', async () => {
    write('systemd-notify', '#!/bin/sh\necho "$@" >notified\n', 0o755);
    write('warn.mjs', WARN);
    const systemd = { NOTIFY_SOCKET: '/run/systemd/notify', PATH: `${folder}:${process.env['PATH']}` };
    const settings = { HOST: '::1', BASE_PATH: '/garden', DATABASE_URL: 'sqlite:new.db', PLUGINS: './warn.mjs' };
    const others = { NODE_OPTIONS: '--trace-deprecation', DATABASE_URI: 'sqlite:garden.db' };
    const service = serve(folder, { ...settings, ...systemd, ...others });
    const url = `http://[::1]:${await service.port()}/garden`;
    await waitUntil('the report to systemd', async () => existsSync(join(folder, 'notified')));
    await service.stop();
    expect(readFileSync(join(folder, 'notified'), 'utf8')).to.equal('--ready\n');
    expect(service.stdout).to.equal(`Plant Store listens on ${url}\nAPI documentation: ${url}/docs\n`);
    expect(service.stderr).not.to.contain(TOKEN);
    const lines = toLines(service.stderr).map((line) => JSON.parse(line));
    // node:sqlite may be experimental.
    const [warning, started, typo] = lines.filter(({ type }) => type !== 'ExperimentalWarning');
    expect(warning).to.include({ level: 'warn', type: 'DryWarning', msg: 'no water' });
    expect(started).to.include({ level: 'info', msg: 'started', version, node: process.version, url });
    expect(started).to.include({ schema: 'created', storage: `sqlite:${join(folder, 'new.db')}` });
    expect(started).to.have.property('driver');
    expect(typo).to.include({ level: 'warn', msg: 'DATABASE_URI: no such setting; did you mean DATABASE_URL?' });
  });

  it('on SIGTERM finishes the create in flight, also after further signals, leaves one file, and exits with 0', async () => {
    // Node then has no listener for warnings that the service could replace.
    const flags = { NODE_NO_WARNINGS: '1', NODE_OPTIONS: '' };
    const service = serve(folder, { DATABASE_URL: 'sqlite:whole.db', SHUTDOWN_TIMEOUT: '60s', DOCS: 'off', ...flags });
    const port = await service.port();
    const idle = await RawClient.connect(port);
    const { finish } = await beginCreate(port, PLANT);
    const start = performance.now();
    await service.kill('SIGTERM').waitForOutput(/"stopping"/);
    service.kill('SIGTERM').kill('SIGINT');
    expect(await idle.readResponse()).to.equal(undefined);
    expect(await finish().readResponse()).to.include({ outcome: 200 });
    expect(await service.exited()).to.equal(0);
    expect(performance.now() - start, 'less than SHUTDOWN_TIMEOUT').to.be.below(60_000);
    expect(service.stdout, 'without an address of /docs').to.match(/^Plant Store listens on \S+\n$/);
    expect(readdirSync(folder).filter((name) => name.startsWith('whole.db'))).to.deep.equal(['whole.db']);
    expect(await sqliteStore(join(folder, 'whole.db')).readPlants()).to.deep.equal([PLANT]);
  });

  it('exits with 1 after SHUTDOWN_TIMEOUT if a create is left in the storage', async () => {
    const stuck = `export default (container) =>
      container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) =>
        Object.assign(storage, { add: () => new Promise(() => console.log('stuck')) }));`;
    write('stuck.mjs', stuck);
    const service = serve(folder, { PLUGINS: './stuck.mjs', DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '100ms' });
    void create(await service.port(), PLANT).catch(() => {});
    await service.waitForOutput(/stuck/);
    expect(await service.stop()).to.equal(1);
  });

  it('on SIGHUP reads tokens again, or does not end if it still starts', async () => {
    const slow = `
      console.log('loading');
      await new Promise((resolve) => process.stdin.once('data', resolve));
      export default () => {};`;
    write('slow.mjs', slow);
    write('tokens', 'old-token');
    const settings = { PLUGINS: './slow.mjs', DATABASE_URL: 'memory:', ACCESS_TOKENS_FILE: 'tokens' };
    const service = serve(folder, settings);
    await service.waitForOutput(/loading/);
    service.kill('SIGHUP').process.stdin.write('continue');
    const port = await service.port();
    write('tokens', 'new-token');
    // The first signal may have arrived late, and reloaded the old token.
    service.kill('SIGHUP');
    const send = () => create(port, PLANT, { Authorization: 'Bearer new-token' });
    await waitUntil('the new token is accepted', async () => (await send())?.outcome === 200);
  });

  it('logs an uncaught exception without user data, and exits with 1; logs no warning that a flag of Node hides', async () => {
    write('failing.mjs', `process.on('SIGUSR2', () => { JSON.parse('canary'); }); ${WARN}`);
    const settings = { PLUGINS: './failing.mjs', DATABASE_URL: 'memory:' };
    const service = serve(folder, { ...settings, NODE_OPTIONS: '--disable-warning=DryWarning' });
    await service.port();
    expect(await service.kill('SIGUSR2').exited()).to.equal(1);
    expect(service.stderr).to.match(/"level":"fatal".*"type":"SyntaxError".*"uncaught exception; exiting"/);
    expect(service.stderr).not.to.include('DryWarning');
  });
});
