import { join } from 'node:path';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { runInProcess } from '../composition/cli/in-process.js';
import { serve } from '../support/client.js';
import { connectTo, databasesOn, mariadbServer, postgresServer } from '../support/database-servers.js';
import { exchange, request } from '../support/raw-http.js';
import { CANARY } from '../support/secret-leaks.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

const TOKEN = 'canary-token-1234567890';
/** SQL of another program, and the outcome of a create afterwards. The ids differ, so that each create writes. */
const STEPS = [
  ['', 200],
  ["CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END", 50002],
  ['DROP TRIGGER reject; ALTER TABLE plants RENAME TO canary_table', 50301],
  ['ALTER TABLE canary_table RENAME TO plants; BEGIN EXCLUSIVE', 50301],
] as const;

describe('The log and the responses of a process', () => {
  const folder = temporaryFolder();

  it('contain no token, plant or SQL when the storage fails, even at level trace', async () => {
    const settings = { LOG_LEVEL: 'trace', STORAGE_TIMEOUT: '5s', DATABASE_URL: 'sqlite:secrets.db' };
    const service = serve(folder, { ACCESS_TOKENS: TOKEN, ...settings });
    const port = await service.port();
    const file = await SqliteFile.open(join(folder, 'secrets.db'));
    for (const [id, [sql, outcome]] of STEPS.entries()) {
      await file.exec(sql);
      // The second line looks like a stack frame, because stack traces are logged.
      const plant = JSON.stringify({ id, name: 'canary-name\n    at canary-frame', tag: 'canary-tag' });
      const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
      const response = await exchange(port, request('POST /plants?canary-query', headers, plant));
      expect(response?.outcome).to.equal(outcome);
      if (outcome !== 200) expect(JSON.stringify(response)).not.to.match(CANARY);
    }
    await file.close();
    expect(await service.stop()).to.equal(0);
    expect(service.stdout + service.stderr).not.to.match(CANARY);
    expect(service.stderr).not.to.match(/insert into|select /i);
    // A log without failures would contain no secrets either.
    expect(service.stderr.match(/"error":5\d+,"err":\{"type":"\w+"/g)).to.have.lengthOf(3);
  });
});

describe('A database password with special characters', () => {
  const PASSWORD = 'p@ss/w:o?r#d%41&+ canary';
  const folder = temporaryFolder();

  for (const server of [postgresServer, mariadbServer]) {
    describe(`on ${server.name}`, () => {
      const databases = databasesOn(server);
      const admin = connectTo(server);
      const user = `plants_${process.pid}`;
      // Nothing to drop if the server is unavailable.
      after(() =>
        admin
          .raw(`DROP USER ${user}`)
          .catch(() => {})
          .finally(() => admin.destroy()),
      );

      it('works percent-encoded in the URL, and appears in no message if it is wrong', async () => {
        const url = new URL(await databases.create());
        const isPostgres = server.client === 'pg';
        await admin.raw(
          isPostgres
            ? `CREATE ROLE ${user} LOGIN SUPERUSER PASSWORD '${PASSWORD.replace('?', '\\?')}'`
            : `CREATE USER ${user} IDENTIFIED BY '${PASSWORD.replace('?', '\\?')}'`,
        );
        if (!isPostgres) await admin.raw(`GRANT ALL ON *.* TO ${user}`);
        Object.assign(url, { username: user, password: encodeURIComponent(PASSWORD) });
        const migrate = (DATABASE_URL: string) => runInProcess(folder, ['migrate'], { DATABASE_URL });
        expect(await migrate(url.href)).to.include({ exitCode: 0, stderr: '' });
        url.password = encodeURIComponent(`${PASSWORD}!`);
        const { stderr } = await migrate(url.href);
        // PostgreSQL may trust local users.
        if (!isPostgres) expect(stderr).to.match(/^plant-store: cannot open mysql:.*Access denied/);
        expect(stderr).not.to.match(CANARY);
      });
    });
  }
});
