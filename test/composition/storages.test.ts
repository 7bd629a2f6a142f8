import { expect } from 'chai';
import { describe, it } from 'mocha';
import { MemoryPlantRepository } from '../../adapters/driven/memory/index.js';
import { createContainer, readConfig, services } from '../../composition/index.js';
import { StorageUnavailable } from '../../core/index.js';
import { catchError } from '../support/catch-error.js';

/** Creates a container whose storage does not respond to the first attempts to open it, and a list of the log lines. */
async function createWithFailures(...codes: readonly string[]) {
  const container = await createContainer(readConfig({ DATABASE_URL: 'garden:' }));
  const failures = codes.map((code) => new StorageUnavailable('cannot open the garden', { cause: { code } }));
  const lines: string[] = [];
  container.rebind(services.LogDestination).toConstantValue({ write: (line) => void lines.push(line) });
  container
    .bind(services.OpenStorage)
    .toConstantValue(() => {
      const failure = failures.shift();
      if (failure) throw failure;
      return new MemoryPlantRepository();
    })
    .whenNamed('garden');
  return { container, lines };
}

describe('The storage', () => {
  it('is opened once it responds, and one line of the log tells why that takes so long', async () => {
    const { container, lines } = await createWithFailures('ECONNREFUSED', '57P03');
    expect(await container.getAsync(services.Storage)).to.be.instanceOf(MemoryPlantRepository);
    expect(lines.join('')).to.match(/^.*cannot open the garden.*"waiting for the database".*\n$/);
  }).timeout(10_000);

  it('is not waited for if it rejects the credential, or will only be read', async () => {
    const rejecting = await createWithFailures('28P01');
    expect(await catchError(rejecting.container.getAsync(services.Storage))).to.be.instanceOf(StorageUnavailable);
    const reading = await createWithFailures('ECONNREFUSED');
    reading.container.rebind(services.ReadOnly).toConstantValue(true);
    expect(await catchError(reading.container.getAsync(services.Storage))).to.be.instanceOf(StorageUnavailable);
    expect([...rejecting.lines, ...reading.lines]).to.deep.equal([]);
  });
});
