import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { createRequest, readiness, serve } from '../support/client.js';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { RawClient } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitForReadiness } from './faults/fault.js';

/** A limit on open files that leaves as many for connections as for everything else. */
const MAX_FILES = 256;

/** Returns the command prefix that limits the open files of a program. */
const limitTo = (maxFiles: number) => ['bash', '-c', `ulimit -n ${maxFiles}; exec "$@"`, 'with-few-files'];

describe('With a low limit on open files', () => {
  const folder = temporaryFolder();
  const databases = databasesOn(postgresServer);
  let proxy: FaultyProxy | undefined;
  afterEach(() => proxy?.refuseConnections());

  it('clients that use every connection leave file descriptors for the storage and for /readyz', async () => {
    proxy = await FaultyProxy.to(postgresServer.url, 5432);
    const settings = { DATABASE_URL: proxy.toProxiedUrl(await databases.create()), MANAGEMENT_PORT: '0' };
    const service = serve(folder, settings, limitTo(MAX_FILES));
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    const first = await RawClient.connect(port);
    expect((await first.send(createRequest({ id: 1n, name: 'Monstera' })).readResponse())?.outcome).to.equal(200);
    const others = await Promise.all(Array.from({ length: 2 * MAX_FILES }, () => RawClient.connect(port)));
    // Connections are accepted in order, so once the service has closed this one it has handled all of the others.
    await (await RawClient.connect(port)).ended();

    proxy.reset();
    await Promise.all(Array.from({ length: 20 }, () => readiness(managementPort)));
    await waitForReadiness(managementPort, '200 ok');
    expect((await first.send(createRequest({ id: 2n, name: 'Ficus' })).readResponse())?.outcome).to.equal(200);
    for (const client of [first, ...others]) client.close();
  });
});
