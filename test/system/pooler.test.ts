import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Knex } from 'knex';
import { after, before, describe, it } from 'mocha';
import { openPostgres } from '../../adapters/driven/knex/index.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { toPlant } from '../support/plants.js';
import { freePort } from '../support/port.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';
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
    const databases = `[databases]\n* = host=${hostname} port=${port} user=postgres\n[pgbouncer]\n`;
    const listener = `listen_addr = 127.0.0.1\nlisten_port = ${poolerPort}\nunix_socket_dir =\nauth_type = any\n`;
    // As the guide says.
    const settings = 'pool_mode = transaction\nignore_startup_parameters = statement_timeout\ndefault_pool_size = 2\n';
    writeFileSync(file, databases + listener + settings);
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

  it('a write that waits for a standby for too long is cancelled', async () => {
    const repository = await openPostgres({ url, timeoutMs: 1000 });
    await admin.raw("ALTER SYSTEM SET synchronous_standby_names = 'down'");
    await admin.raw('SELECT pg_reload_conf()');
    await admin.raw('CHECKPOINT');
    for (const id of [-1n, -2n])
      expect(await catchError(repository.add([toPlant({ id, name: 'Monstera' })]))).to.be.instanceOf(
        StorageUnavailable,
      );
    await waitUntil('no connection waits', async () => {
      const { rows } = await admin.raw("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      return rows.length === 0;
    });
    await repository.close();
  });
});
