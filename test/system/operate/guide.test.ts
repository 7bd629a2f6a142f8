import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, createRequest, serve, toLines } from '../../support/client.js';
import { exchange, RawClient } from '../../support/raw-http.js';
import { SqliteFile } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';
import { commandBlocks, guide, headingsNotRun, headingsRun } from './guide.js';

describe('The operations guide', () => {
  it('contains only commands that a test runs or that are listed as untestable', () => {
    expect([...commandBlocks().keys()]).to.have.members([...headingsRun, ...Object.keys(headingsNotRun)]);
  });

  describe('documents', () => {
    const folder = temporaryFolder();

    it('exactly the log fields of requests and failures', async () => {
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
      const documented = [...section.matchAll(/^\| (`.*?`) \|/gm)].flatMap(
        ([, names = '']) => names.match(/\w+/g) ?? [],
      );
      expect(documented).to.have.members([...new Set(logged)]);
    });
  });
});
