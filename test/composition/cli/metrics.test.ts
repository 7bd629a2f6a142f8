import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { plantStore } from '../../support/executable.js';
import { RawClient } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';
import { waitUntil } from '../../support/wait-until.js';

describe('The metrics of a running service', () => {
  const folder = temporaryFolder();

  /** Starts the service, and returns it with a function that reads a metric. */
  async function start(environment: Readonly<Record<string, string>>) {
    const service = plantStore(folder, [], { PORT: '0', MANAGEMENT_PORT: '0', ...environment });
    const management = await service.managementPort();
    const read = async (name: string) => {
      const text = await (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
      return Number(RegExp(`^plant_store_${name} (.*)$`, 'm').exec(text)?.[1]);
    };
    return { service, read, port: await service.port() };
  }

  it('count open connections, and show the files and the connection pool of the storage', async () => {
    const { read, port } = await start({ DATABASE_URL: 'sqlite:plants.db' });
    expect(await read('http_connections')).to.equal(0);
    const client = await RawClient.connect(port);
    await waitUntil('the connection is counted', async () => (await read('http_connections')) === 1);
    client.close();
    expect(await read('storage_connections_limit')).to.equal(1);
    expect(await read('storage_size_bytes')).to.be.above(4096);
    expect(await read('storage_log_size_bytes')).to.be.above(0);
  });

  it('show whether the tokens file was valid when it was last read, and when it last was', async () => {
    const file = join(folder, 'tokens');
    const startedAt = Date.now() / 1000;
    writeFileSync(file, 'token-1-of-the-tests\n');
    const { service, read } = await start({ DATABASE_URL: 'memory:', ACCESS_TOKENS_FILE: file });
    const state = async () => {
      const timestamp = await read('tokens_last_reload_success_timestamp_seconds');
      return { isValid: (await read('tokens_last_reload_successful')) === 1, timestamp };
    };
    const first = await state();
    expect(first.isValid).to.equal(true);
    expect(first.timestamp).to.be.within(startedAt, Date.now() / 1000);
    writeFileSync(file, 'not a token\n');
    await service.kill('SIGHUP').waitForOutput(/keeping the previous tokens/);
    expect(await state()).to.deep.equal({ isValid: false, timestamp: first.timestamp });
    writeFileSync(file, 'token-2-of-the-tests\n');
    await service.kill('SIGHUP').waitForOutput(/ACCESS_TOKENS_FILE reloaded/);
    const last = await state();
    expect(last.isValid).to.equal(true);
    expect(last.timestamp).to.be.above(first.timestamp);
  });
});
