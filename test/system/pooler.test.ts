import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { serverStore } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { freePort } from '../support/port.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { Load } from './load.js';
import { PrivateServer, privateServers } from './private-server.js';

const IGNORE = 'ignore_startup_parameters = statement_timeout';

describe('Behind pgbouncer', () => {
  const folder = temporaryFolder();
  let server: PrivateServer;
  before(async function () {
    PrivateServer.skipUnlessAvailable(this, privateServers.postgres);
    skipUnlessInstalled(this, 'pgbouncer', '--version');
    server = await PrivateServer.install(privateServers.postgres, folder);
    await server.start();
  });
  after(() => server?.kill());

  /** Starts a pooler in front of the server and returns its URL. */
  async function startPooler(...settings: string[]): Promise<string> {
    const { hostname, port, pathname } = new URL(server.server.url);
    const poolerPort = await freePort();
    const file = join(folder, 'pgbouncer.ini');
    const databases = ['[databases]', `* = host=${hostname} port=${port} user=postgres`];
    const listener = ['listen_addr = 127.0.0.1', `listen_port = ${poolerPort}`, 'unix_socket_dir =', 'auth_type = any'];
    writeFileSync(file, [...databases, '[pgbouncer]', ...listener, ...settings, ''].join('\n'));
    chmodSync(file, 0o644);
    // pgbouncer refuses to run as root.
    const user = process.getuid?.() === 0 ? ['--user=postgres'] : [];
    await new Program(folder, ['pgbouncer', ...user, file]).waitForOutput(/process up/);
    return `postgres://postgres@127.0.0.1:${poolerPort}${pathname}`;
  }

  // In session mode, each connection of a service occupies a server connection.
  for (const [mode, poolSize] of [
    ['session', 20],
    ['transaction', 2],
  ] as const) {
    it(`in ${mode} mode, two services create plants`, async () => {
      const url = await startPooler(`pool_mode = ${mode}`, IGNORE, `default_pool_size = ${poolSize}`);
      const services = [serve(folder, { DATABASE_URL: url }), serve(folder, { DATABASE_URL: url })];
      const ports = await Promise.all(services.map((service) => service.port()));
      const load = new Load();
      load.start(...ports);
      await load.waitForOutcomes(1000, 200);
      await load.stop();
      expect(load.outcomes()).to.have.members([200, 40901, 40902]);
      const knex = server.connect();
      load.expectNoViolations(await serverStore(server.server.url, knex).readPlants());
      await knex('plants').delete();
      await knex.destroy();
      for (const service of services) expect(await service.stop()).to.equal(0);
    });
  }

  for (const settings of [[], ['pool_mode = statement', IGNORE]]) {
    it(`with ${settings.join(', ') || 'default settings'}, the service fails to start and prints what to set`, async () => {
      const service = serve(folder, { DATABASE_URL: await startPooler(...settings) });
      expect(await service.exited()).to.equal(1);
      expect(service.stderr).to.match(
        /^plant-store: cannot open \S+: the pooler .*set pool_mode = transaction and ignore_startup_parameters = statement_timeout.*\n$/,
      );
    });
  }
});
