import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { freePort } from '../support/port.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { Load } from './load.js';
import { PrivateServer, privateServers } from './private-server.js';

describe('Behind pgbouncer', () => {
  const folder = temporaryFolder();

  it('in transaction mode, two services create plants', async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    skipUnlessInstalled(this, 'pgbouncer', '--version');
    const server = await PrivateServer.install(privateServers.postgres, folder);
    await server.start();
    const { hostname, port, pathname } = new URL(server.url);
    const poolerPort = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    const databases = `[databases]\n* = host=${hostname} port=${port} user=postgres\n[pgbouncer]\n`;
    const listener = `listen_addr = 127.0.0.1\nlisten_port = ${poolerPort}\nunix_socket_dir =\nauth_type = any\n`;
    // As the guide says.
    const settings = 'pool_mode = transaction\nignore_startup_parameters = statement_timeout\ndefault_pool_size = 2\n';
    writeFileSync(file, databases + listener + settings);
    chmodSync(file, 0o644);
    // pgbouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? ['--user=postgres'] : [];
    await new Program(folder, ['pgbouncer', ...user, file]).waitForOutput(/process up/);
    const url = `postgres://postgres@127.0.0.1:${poolerPort}${pathname}`;
    const services = [serve(folder, { DATABASE_URL: url }), serve(folder, { DATABASE_URL: url })];
    const ports = await Promise.all(services.map((service) => service.port()));
    const load = new Load();
    load.start(...ports);
    await load.waitForOutcomes(1000, 200);
    const knex = server.connect();
    await load.expectNothingLost(ports[0] ?? 0, serverStore(server.url, knex)).finally(() => knex.destroy());
    expect(load.outcomes()).to.have.members([200, 40901, 40902]);
    for (const service of services) expect(await service.stop()).to.equal(0);
  });
});
