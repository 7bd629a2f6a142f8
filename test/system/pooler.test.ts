import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { connectTo } from '../support/database-servers.js';
import { serverStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { configuration, runCommands } from '../support/guide.js';
import { freePort } from '../support/port.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { Load } from './load.js';
import { PrivateServer, privateServers } from './private-server.js';

describe('Behind pgbouncer configured as in the guide', () => {
  const folder = temporaryFolder();

  it('two services create plants', async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    for (const program of ['pgbouncer', 'psql']) skipUnlessInstalled(this, program, '--version');
    const server = await PrivateServer.install(privateServers.postgres, folder);
    const [hba, userlist] = [join(folder, 'pg_hba.conf'), join(folder, 'userlist.txt')];
    // Only pgbouncer connects as the user of the service, with its password.
    writeFileSync(hba, 'host all postgres 127.0.0.1/32 trust\nhost all plants 127.0.0.1/32 scram-sha-256\n');
    await server.start([`--hba_file=${hba}`]);
    const postgres = new URL(server.url);
    const port = `${await freePort()}`;
    const ini = configuration('pgbouncer.ini', {
      'host=127.0.0.1 port=5432': `host=127.0.0.1 port=${postgres.port}`,
      'listen_port = 6432': `listen_port = ${port}`,
      '/etc/pgbouncer/userlist.txt': userlist,
    });
    const [, copyUser] = /^# {3}(umask .*)$/m.exec(ini) ?? [];
    const [, limitStatements = ''] = /^# {3}(ALTER ROLE .*)$/m.exec(ini) ?? [];
    const root = server.connect();
    await root.raw("CREATE ROLE plants LOGIN PASSWORD 'Monstera'");
    await root.raw(limitStatements);
    await root.raw('CREATE DATABASE plants OWNER plants');
    await root.destroy();
    await runCommands(copyUser, folder, { PGHOST: postgres.hostname, PGPORT: postgres.port, PGUSER: 'postgres' });
    const file = join(folder, 'pgbouncer.ini');
    writeFileSync(file, ini);
    // pgbouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? ['--user=postgres'] : [];
    await new Program(folder, ['pgbouncer', ...user, file]).waitForOutput(/process up/);

    const DATABASE_URL = `postgres://plants:Monstera@127.0.0.1:${port}/plants`;
    const services = [serve(folder, { DATABASE_URL }), serve(folder, { DATABASE_URL })];
    const ports = await Promise.all(services.map((service) => service.port()));
    const load = new Load();
    load.start(...ports);
    await load.waitForOutcomes(1000, 200);
    const admin = connectTo({ client: 'pg', url: Object.assign(postgres, { pathname: '/plants' }).href });
    await load.expectNothingLost(ports[0] ?? 0, serverStore(server.url, admin));
    await admin.destroy();
    expect(load.outcomes()).to.have.members([200, 40901, 40902]);
    for (const service of services) expect(await service.stop()).to.equal(0);
  });
});
