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

  it('have the state of its connections, its storage and its tokens file', async () => {
    const file = join(folder, 'tokens');
    const startedAt = Date.now() / 1000;
    writeFileSync(file, 'token-1-of-the-tests\n');
    const service = plantStore(folder, [], { PORT: '0', MANAGEMENT_PORT: '0', ACCESS_TOKENS_FILE: file });
    const management = await service.managementPort();
    const read = async (name: string) => {
      const text = await (await fetch(`http://127.0.0.1:${management}/metrics`)).text();
      return Number(RegExp(`^plant_store_${name} (.*)$`, 'm').exec(text)?.[1]);
    };

    expect(await read('http_connections')).to.equal(0);
    const client = await RawClient.connect(await service.port());
    await waitUntil('the connection is counted', async () => (await read('http_connections')) === 1);
    client.close();
    expect(await read('storage_connections_limit')).to.equal(1);
    expect(await read('storage_size_bytes')).to.be.above(4096);
    expect(await read('storage_log_size_bytes')).to.be.above(0);

    const reload = async (text: string, output: RegExp) => {
      writeFileSync(file, text);
      await service.kill('SIGHUP').waitForOutput(output);
      return read('tokens_last_reload_successful');
    };
    const readLoadedAt = () => read('tokens_last_reload_success_timestamp_seconds');
    const loadedAt = await readLoadedAt();
    expect(loadedAt).to.be.within(startedAt, Date.now() / 1000);
    expect(await reload('not a token\n', /keeping the previous tokens/)).to.equal(0);
    expect(await readLoadedAt()).to.equal(loadedAt);
    expect(await reload('token-2-of-the-tests\n', /ACCESS_TOKENS_FILE reloaded/)).to.equal(1);
    expect(await readLoadedAt()).to.be.above(loadedAt);
  });
});
