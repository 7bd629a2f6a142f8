import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, serve } from '../../support/client.js';
import { PrivateServer, privateServers } from '../../support/private-server.js';
import { Disk } from './disk.js';
import { waitForReadiness } from './fault.js';

describe('While the disk of a database server is full', () => {
  const disk = new Disk();

  for (const [kind, ...settings] of [
    [privateServers.postgres],
    [privateServers.mariadb, '--innodb-log-file-size=8M'],
  ] as const) {
    it(`creates and readiness fail, until there is space: ${kind.name}`, async function () {
      PrivateServer.skipUnlessAvailable(this, kind);
      disk.mountTmpfs(this, 300);
      const server = await PrivateServer.install(kind, disk.path);
      await server.start(settings);
      const service = serve(disk.path, { DATABASE_URL: server.server.url, MANAGEMENT_PORT: '0' });
      const [port, managementPort] = [await service.port(), await service.managementPort()];
      const name = randomBytes(1000).toString('hex');
      expect((await create(port, { id: 1n, name }))?.outcome).to.equal(200);
      await waitForReadiness(managementPort, '200 ok');
      disk.fill(0);
      for (let id = 2n; (await create(port, { id, name }))?.outcome !== 50301; ) id++;
      await waitForReadiness(managementPort, '503 unavailable');
      disk.free();
      await waitForReadiness(managementPort, '200 ok');
      await server.kill();
    });
  }
});
