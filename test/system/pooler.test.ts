import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { after, before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { freePort } from '../support/port.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { Load } from './load.js';
import { PrivateServer, privateServers } from './private-server.js';

describe('Behind pgbouncer in transaction mode', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  let url: string;
  let admin: Knex;

  before(async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    skipUnlessInstalled(this, 'pgbouncer', '--version');
    server = await PrivateServer.install(privateServers.postgres, folder);
    await server.start();
    admin = server.connect();
    const { hostname, port, pathname } = new URL(server.url);
    const poolerPort = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    const settings = [
      ...['[databases]', `* = host=${hostname} port=${port} user=postgres`, '[pgbouncer]', 'listen_addr = 127.0.0.1'],
      ...[`listen_port = ${poolerPort}`, 'unix_socket_dir =', 'auth_type = any', 'default_pool_size = 2'],
      // As the guide says.
      ...['pool_mode = transaction', 'ignore_startup_parameters = statement_timeout'],
    ];
    writeFileSync(file, settings.join('\n'));
    chmodSync(file, 0o644);
    // pgbouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? ['--user=postgres'] : [];
    await new Program(folder, ['pgbouncer', ...user, file]).waitForOutput(/process up/);
    url = `postgres://postgres@127.0.0.1:${poolerPort}${pathname}`;
  });
  after(() => admin?.destroy());

  it('two services create plants', async () => {
    const services = [serve(folder, { DATABASE_URL: url }), serve(folder, { DATABASE_URL: url })];
    const ports = await Promise.all(services.map((service) => service.port()));
    const load = new Load();
    load.start(...ports);
    await load.waitForOutcomes(1000, 200);
    await load.expectNothingLost(ports[0] ?? 0, serverStore(server.url, admin));
    expect(load.outcomes()).to.have.members([200, 40901, 40902]);
    for (const service of services) expect(await service.stop()).to.equal(0);
  });
});
