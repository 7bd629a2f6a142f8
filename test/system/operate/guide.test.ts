import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, createRequest, serve, toLines } from '../../support/client.js';
import { exchange, RawClient } from '../../support/raw-http.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { commandsUnder, guide, run } from './guide.js';

describe('The operations guide', () => {
  const folder = temporaryFolder();

  it('previews the schema changes of an upgrade, even while the service runs', async () => {
    const environment = { DATABASE_URL: `sqlite:${join(folder, 'upgraded.db')}` };
    const [preview] = commandsUnder('Before the upgrade');
    expect(await run(preview, folder, environment)).to.match(/; serve will apply 001_plants\b/);
    const port = await serve(folder, environment).port();
    expect(await run(preview, folder, environment)).not.to.include('will apply');
    expect((await create(port, { id: 1n, name: 'Monstera' }))?.outcome).to.equal(200);
  });

  it('documents exactly the log fields of requests and failures', async () => {
    const service = serve(folder);
    const port = await service.port();
    for (const name of ['Monstera', 'Ficus']) await create(port, { id: 1n, name });
    await exchange(port, 'no request\r\n\r\n');
    const client = await RawClient.connect(port);
    const bytes = createRequest({ id: 3n, name: 'Monstera' }, { Expect: '100-continue' });
    await client.send(bytes.subarray(0, bytes.indexOf('{'))).readResponse();
    client.socket.resetAndDestroy();
    await service.waitForOutput(/"aborted":true/);
    const file = await SqliteFile.open(`${folder}/plants.db`);
    await file.exec('DROP TABLE plants');
    await file.close();
    await create(port, { id: 2n, name: 'Monstera' });
    await service.stop();

    const lines: Record<string, unknown>[] = toLines(service.stderr).map((line) => JSON.parse(line));
    const logged = lines.filter(({ msg }) => `${msg}`.startsWith('request')).flatMap(Object.keys);
    const [, section = ''] = /^### The log$([\s\S]*?)^## /m.exec(guide) ?? [];
    const documented = [...section.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
    expect(documented).to.have.members([...new Set(logged)]);
  });
});
