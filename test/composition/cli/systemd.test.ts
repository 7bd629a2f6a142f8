import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve } from '../../support/client.js';
import { temporaryFolder } from '../../support/temporary.js';
import { waitUntil } from '../../support/wait-until.js';

describe('A service that systemd starts', () => {
  const folder = temporaryFolder();
  const settings = { DATABASE_URL: 'memory:', NOTIFY_SOCKET: '/run/systemd/notify' };

  it('reports that it is ready when the storage is, and shuts down before that, too', async () => {
    const unready = `
      import { existsSync } from 'node:fs';
      async function ready() {
        console.log('checked');
        if (!existsSync('ready')) throw new Error('not ready');
      }
      export default (container) => {
        container.onActivation(Symbol.for('plant-store:Storage'), (_, storage) => Object.assign(storage, { ready }));
      };`;
    writeFileSync(join(folder, 'unready.mjs'), unready);
    writeFileSync(join(folder, 'systemd-notify'), '#!/bin/sh\necho "$@" >arguments\n', { mode: 0o755 });
    const withDouble = { ...settings, PLUGINS: './unready.mjs', PATH: `${folder}:${process.env['PATH']}` };
    const [service, stopped] = [serve(folder, withDouble), serve(folder, withDouble)];
    for (const each of [service, stopped]) await each.waitForOutput(/checked/);
    expect(await stopped.stop()).to.equal(0);
    expect(existsSync(join(folder, 'arguments'))).to.equal(false);
    writeFileSync(join(folder, 'ready'), '');
    await waitUntil('the report', async () => existsSync(join(folder, 'arguments')));
    expect(await service.stop()).to.equal(0);
    expect(readFileSync(join(folder, 'arguments'), 'utf8')).to.equal('--ready\n');
  });

  it('logs a warning and creates plants if it cannot report that it is ready', async () => {
    const service = serve(folder, { ...settings, PATH: '/nowhere' });
    await service.waitForOutput(/"level":"warn".*"code":"ENOENT".*"msg":"systemd-notify failed/);
    expect((await create(await service.port(), { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
  });
});
