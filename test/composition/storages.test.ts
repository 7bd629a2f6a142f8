import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createContainer, InvalidConfig, readConfig, services } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { temporaryFolder } from '../support/temporary.js';

/** Creates a container whose storage does not respond to the first attempts to open it, and a list of the log lines. */
async function createWithFailures(codes: readonly string[], { readOnly = false } = {}) {
  const container = await createContainer(readConfig({ DATABASE_URL: 'garden:' }), { readOnly });
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
  const folder = temporaryFolder();

  it('is opened once it responds, and one line of the log says why that takes so long', async () => {
    const codes = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND'];
    const opened = [...codes, '57P03', 'PROTOCOL_CONNECTION_LOST'].map(async (code) => {
      const { container, lines } = await createWithFailures([code, code]);
      expect(await container.getAsync(services.Storage)).to.be.instanceOf(MemoryPlantRepository);
      expect(lines.join('')).to.match(/^.*cannot open the garden.*"waiting for the database".*\n$/);
    });
    await Promise.all(opened);
  });

  it('is not waited for if it rejects the credential, or will only be read', async () => {
    const rejecting = await createWithFailures(['28P01']);
    expect(await catchError(rejecting.container.getAsync(services.Storage))).to.be.instanceOf(StorageUnavailable);
    const reading = await createWithFailures(['ECONNREFUSED'], { readOnly: true });
    expect(await catchError(reading.container.getAsync(services.Storage))).to.be.instanceOf(StorageUnavailable);
    expect([...rejecting.lines, ...reading.lines]).to.deep.equal([]);
  });

  const open = async (environment: Readonly<Record<string, string>>) =>
    (await createContainer(readConfig(environment))).getAsync(services.Storage);

  it('of SQLite is a file, which must exist if the URL says mode=rw', async () => {
    const path = join(folder, 'new.db');
    const existing = { DATABASE_URL: `sqlite:${path}?mode=rw` };
    expect(await catchError(open(existing))).to.match(/cannot open sqlite:/);
    for (const environment of [{ DATABASE_URL: `sqlite:${path}` }, existing]) {
      const storage = await open(environment);
      expect(storage.name).to.equal(`sqlite:${path}`);
      await storage.close();
    }
  });

  it('names the variable that has its URL in every error', async () => {
    const path = join(folder, 'url');
    for (const url of ['sqlite://x', 'sqlite:none/plants.db', 'x', 'mysql://u@db']) {
      writeFileSync(path, url);
      expect(`${await catchError(open({ DATABASE_URL_FILE: path }))}`).to.match(/: DATABASE_URL_FILE: /);
    }
  });

  it('is rejected without printing its URL, if that is invalid', async () => {
    for (const [url, problem] of [
      ['user:canary@db/plants', /^DATABASE_URL: must be sqlite:PATH, .* PLUGINS adds$/],
      ['garden://u:canary@db', /PLUGINS adds$/],
      ['sqlite://canary.db', /^DATABASE_URL: must be sqlite:PATH or sqlite:PATH\?mode=rw$/],
      ['sqlite::memory:', /must be sqlite:PATH or/],
      ['sqlite:file:canary', /must be sqlite:PATH or/],
      ['sqlite:plants.db?key=canary', /must be sqlite:PATH or/],
      ['mysql://u:canary@db/plants?tls=on', /^DATABASE_URL: unknown parameter tls/],
    ] as const) {
      const error = await catchError(open({ DATABASE_URL: url }));
      expect(error, url).to.be.instanceOf(InvalidConfig).with.property('message').that.matches(problem);
      expect(`${error}`).not.to.include('canary');
    }
  });
});
