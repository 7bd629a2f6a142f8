import { expect } from 'chai';
import { afterEach, describe, it } from 'mocha';
import { createRequest, TOKEN, toOutcome } from '../support/client.js';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { FaultyProxy } from '../support/faulty-proxy.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';

/** Minimum limit on open files. */
const MIN_OPEN_FILES = 256;

function serveWithLimit(maxFiles: number, folder: string, environment: Readonly<Record<string, string>>): Executable {
  const command = ['bash', '-c', `ulimit -n ${maxFiles}; exec "$@"`, 'with-few-files'];
  return new Executable(folder, [], { PORT: '0', ACCESS_TOKENS: TOKEN, ...environment }, command);
}

describe('With a low limit on open files', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();
  const databases = databasesOn(postgresServer);
  let proxy: FaultyProxy | undefined;
  afterEach(() => proxy?.close());

  for (const maxFiles of [64, MIN_OPEN_FILES - 1]) {
    it(`a limit of ${maxFiles} prevents the start with a one-line error that names the minimum`, async () => {
      const service = serveWithLimit(maxFiles, folder, { DATABASE_URL: 'memory:' });
      expect(await service.exited()).to.equal(78);
      expect(service.stderr).to.equal(
        `plant-store: the limit on open files is ${maxFiles} and must be at least ${MIN_OPEN_FILES}; raise it with ulimit -n or LimitNOFILE\n`,
      );
    });
  }

  it('clients that use every connection leave file descriptors for the storage and for /readyz', async () => {
    proxy = await FaultyProxy.to(postgresServer.url, 5432);
    const service = serveWithLimit(MIN_OPEN_FILES, folder, {
      DATABASE_URL: proxy.toProxiedUrl(await databases.create()),
      MANAGEMENT_PORT: '0',
    });
    const port = await service.port();
    const managementPort = await service.managementPort();
    const first = await RawClient.connect(port);
    expect(toOutcome(await first.send(createRequest({ id: 1n, name: 'Monstera' })).readResponse())).to.equal(200);
    const others = await Promise.all(Array.from({ length: 2 * MIN_OPEN_FILES }, () => RawClient.connect(port)));
    // Connections are accepted in order, so once the service has closed this one it has handled all of the others.
    await (await RawClient.connect(port)).ended();

    proxy.reset();
    const ready = await exchange(managementPort, request('GET /readyz'));
    expect(ready?.json()).to.deep.equal({ status: 'ready', checks: { service: 'ok', storage: 'ok' } });
    expect(toOutcome(await first.send(createRequest({ id: 2n, name: 'Ficus' })).readResponse())).to.equal(200);
    for (const client of [first, ...others]) client.close();
  });
});
