import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MemoryPlantRepository } from '@plant-store/adapters/memory';
import { StorageUnavailable } from '@plant-store/core';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { createContainer, readConfig, services } from '../../composition/index.js';
import { catchError } from '../support/catch-error.js';
import { temporaryFolder } from '../support/temporary.js';

describe('The storage', () => {
  const folder = temporaryFolder();
  const open = async (environment: Readonly<Record<string, string>>) =>
    (await createContainer(readConfig(environment))).getAsync(services.Storage);

  /** Opens a storage whose first two attempts fail with a code. Returns it or its error, and the log. */
  const openWithFailures = async (code: string, readOnly = false) => {
    const container = await createContainer(readConfig({ DATABASE_URL: 'garden:' }), { readOnly });
    let attempts = 0;
    const openGarden = () => {
      if (++attempts < 3) throw new StorageUnavailable('cannot open the garden', { cause: { code } });
      return new MemoryPlantRepository();
    };
    container.bind(services.OpenStorage).toConstantValue(openGarden).whenNamed('garden');
    const log: string[] = [];
    container.rebind(services.LogDestination).toConstantValue({ write: (line) => log.push(line) });
    return { storage: await container.getAsync(services.Storage).catch((error: unknown) => error), log };
  };

  it('is opened once its server responds, and one line of the log says why that takes so long', async () => {
    const codes = ['ECONNREFUSED', 'ECONNRESET', 'EHOSTUNREACH', 'ENETUNREACH', 'ETIMEDOUT', 'EAI_AGAIN', 'ENOTFOUND'];
    codes.push('57P03', 'PROTOCOL_CONNECTION_LOST');
    for (const { storage, log } of await Promise.all(codes.map((code) => openWithFailures(code)))) {
      expect(storage).to.be.instanceOf(MemoryPlantRepository);
      expect(log).to.have.lengthOf(1);
      expect(log[0]).to.match(/cannot open the garden.*"waiting for the database"/);
    }
  });

  it('is not waited for if it rejects the credential, or will only be read', async () => {
    for (const { storage, log } of [await openWithFailures('28P01'), await openWithFailures('ECONNREFUSED', true)]) {
      expect(storage).to.be.instanceOf(StorageUnavailable);
      expect(log).to.deep.equal([]);
    }
  });

  it('of SQLite must exist if the URL says mode=rw', async () => {
    expect(await catchError(open({ DATABASE_URL: `sqlite:${folder}/new.db?mode=rw` }))).to.match(/cannot open sqlite:/);
    await (await open({ DATABASE_URL: `sqlite:${folder}/new.db` })).close();
    await (await open({ DATABASE_URL: `sqlite:${folder}/new.db?mode=rw` })).close();
  });

  it('is rejected without printing its URL, if that is invalid', async () => {
    const file = join(folder, 'url');
    for (const [url, problem] of [
      ['user:canary@db/plants', 'must be sqlite:PATH, .* PLUGINS adds'],
      ['garden://u:canary@db', 'must be sqlite:PATH, .* PLUGINS adds'],
      ['sqlite://canary.db', 'must be sqlite:PATH or sqlite:PATH\\?mode=rw'],
      ['sqlite::memory:', 'must be sqlite:PATH or sqlite:PATH\\?mode=rw'],
      ['sqlite:file:canary', 'must be sqlite:PATH or sqlite:PATH\\?mode=rw'],
      ['sqlite:plants.db?key=canary', 'must be sqlite:PATH or sqlite:PATH\\?mode=rw'],
      ['mysql://u:canary@db/plants?tls=on', 'unknown parameter tls.*'],
    ] as const) {
      writeFileSync(file, url);
      for (const [variable, value] of Object.entries({ DATABASE_URL: url, DATABASE_URL_FILE: file }))
        expect(await catchError(open({ [variable]: value })), url)
          .to.match(RegExp(`^InvalidConfig: ${variable}: ${problem}$`))
          .and.not.match(/canary/);
    }
  });
});
