import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { createRequest, readiness, serve } from '../support/client.js';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { RawClient } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitForReadiness } from './faults/fault.js';

/** Minimum limit on open files. */
const MIN_OPEN_FILES = 256;

/** Returns the command prefix that limits the open files of a program. */
const limitTo = (maxFiles: number) => ['bash', '-c', `ulimit -n ${maxFiles}; exec "$@"`, 'with-few-files'];

describe('With a low limit on open files', () => {
  const folder = temporaryFolder();
  const databases = databasesOn(postgresServer);
  let proxy: FaultyProxy | undefined;
  afterEach(() => proxy?.refuseConnections());

  it('the service does not start, and reports the minimum in one line', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:' }, limitTo(MIN_OPEN_FILES - 1));
    expect(await service.exited()).to.equal(78);
    expect(service.stderr).to.equal(
      'plant-store: the limit on open files is 255 and must be at least 256; raise it with ulimit -n or LimitNOFILE\n',
    );
  });

  it('clients that use every connection leave file descriptors for the storage and for /readyz', async () => {
    proxy = await FaultyProxy.to(postgresServer.url, 5432);
    const settings = { DATABASE_URL: proxy.toProxiedUrl(await databases.create()), MANAGEMENT_PORT: '0' };
    const service = serve(folder, settings, limitTo(MIN_OPEN_FILES));
    const [port, managementPort] = [await service.port(), await service.managementPort()];
    const first = await RawClient.connect(port);
    expect((await first.send(createRequest({ id: 1n, name: 'Monstera' })).readResponse())?.outcome).to.equal(200);
    const others = await Promise.all(Array.from({ length: 2 * MIN_OPEN_FILES }, () => RawClient.connect(port)));
    // Connections are accepted in order, so once the service has closed this one it has handled all of the others.
    await (await RawClient.connect(port)).ended();

    proxy.reset();
    await Promise.all(Array.from({ length: 20 }, () => readiness(managementPort)));
    await waitForReadiness(managementPort, '200 ok');
    expect((await first.send(createRequest({ id: 2n, name: 'Ficus' })).readResponse())?.outcome).to.equal(200);
    for (const client of [first, ...others]) client.close();
  });
});
