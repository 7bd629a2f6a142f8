import { expect } from 'chai';
import { describe, it } from 'mocha';
import { endProgramsAfterEach } from '../../support/executable.js';
import { exchange, RawClient } from '../../support/raw-http.js';
import { temporaryFolder } from '../../support/temporary.js';
import { create, creating, linesOf, serve } from '../../system/client.js';
import { SqliteFile } from '../../system/sqlite-file.js';
import { commandBlocks, guide, headingsNotRun, headingsRun } from './guide.js';

describe('The guide to operating', () => {
  it('has no command that neither a test runs nor the list of those that none can run names', () => {
    expect([...commandBlocks().keys()]).to.have.members([...Object.keys(headingsRun), ...Object.keys(headingsNotRun)]);
  });

  describe('has, of the log', () => {
    endProgramsAfterEach();
    const folder = temporaryFolder();

    it('every field of a request and of a failure, and no other', async () => {
      const service = serve(folder);
      const port = await service.port();
      for (const name of ['Monstera', 'Ficus']) await create(port, { id: 1n, name });
      await exchange(port, 'no request\r\n\r\n');
      const client = await RawClient.connect(port);
      const bytes = creating({ id: 3n, name: 'Monstera' }, { Expect: '100-continue' });
      await client.send(bytes.subarray(0, bytes.indexOf('{'))).answer();
      client.socket.resetAndDestroy();
      await service.says(/"aborted":true/);
      const file = await SqliteFile.open(`${folder}/plants.db`);
      await file.exec('DROP TABLE plants');
      await file.close();
      await create(port, { id: 2n, name: 'Monstera' });
      await service.kill('SIGTERM').exited();

      const lines: Record<string, unknown>[] = linesOf(service.stderr).map((line) => JSON.parse(line));
      const logged = lines.filter(({ msg }) => `${msg}`.startsWith('request')).flatMap(Object.keys);
      const [, section = ''] = /^### The log$([\s\S]*?)^## /m.exec(guide) ?? [];
      const told = [...section.matchAll(/^\| (`.*?`) \|/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []);
      expect(told).to.have.members([...new Set(logged)]);
    });
  });
});
