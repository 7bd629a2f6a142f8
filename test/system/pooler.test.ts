import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { freePort } from '../support/port.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { conclusive } from './history.js';
import { Load } from './load.js';
import { PrivateServer, privateServers } from './private-server.js';

describe('Behind pgbouncer', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  before(async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    skipUnlessInstalled(this, 'pgbouncer', '--version');
    server = await PrivateServer.install(privateServers.postgres, folder);
    await server.start();
  });

  it('in transaction mode, two services create plants', async () => {
    const { hostname, port, pathname } = new URL(server.server.url);
    const poolerPort = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    const databases = ['[databases]', `* = host=${hostname} port=${port} user=postgres`];
    const listener = ['listen_addr = 127.0.0.1', `listen_port = ${poolerPort}`, 'unix_socket_dir =', 'auth_type = any'];
    // As the guide says.
    const settings = ['pool_mode = transaction', 'ignore_startup_parameters = statement_timeout'];
    const all = [...databases, '[pgbouncer]', ...listener, ...settings, 'default_pool_size = 2', ''];
    writeFileSync(file, all.join('\n'));
    chmodSync(file, 0o644);
    // pgbouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? ['--user=postgres'] : [];
    await new Program(folder, ['pgbouncer', ...user, file]).waitForOutput(/process up/);
    const url = `postgres://postgres@127.0.0.1:${poolerPort}${pathname}`;
    const services = [serve(folder, { DATABASE_URL: url }), serve(folder, { DATABASE_URL: url })];
    const load = new Load();
    load.start(...(await Promise.all(services.map((service) => service.port()))));
    await load.waitForOutcomes(1000, 200);
    await load.stop();
    expect(load.outcomes()).to.have.members(conclusive);
    const knex = server.connect();
    load.expectNoViolations(await serverStore(server.server.url, knex).readPlants());
    await knex.destroy();
    for (const service of services) expect(await service.stop()).to.equal(0);
  });
});
