import { join } from 'node:path';
import { expect } from 'chai';
import { after, describe, it } from 'mocha';
import { create, serve } from '../support/client.js';
import { connectTo, databasesOn, mariadbServer, postgresServer } from '../support/database-servers.js';
import { plantStore } from '../support/executable.js';
import { CANARY } from '../support/secret-leaks.js';
import { SqliteFile } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';

/** SQL of another program, and the outcome of a create afterwards. The ids differ, so that each create writes. */
const STEPS = [
  ['', 200],
  ["CREATE TRIGGER reject BEFORE INSERT ON plants BEGIN SELECT RAISE(ABORT, 'canary-trigger'); END", 50002],
  ['DROP TRIGGER reject; ALTER TABLE plants RENAME TO canary_table', 50301],
] as const;

describe('The log and the responses of a process', () => {
  const folder = temporaryFolder();

  it('contain no token, plant or SQL when the storage fails, even at level trace', async () => {
    const service = serve(folder, { ACCESS_TOKENS: 'canary-token', LOG_LEVEL: 'trace' });
    const port = await service.port();
    const file = await SqliteFile.open(join(folder, 'plants.db'));
    for (const [id, [sql, outcome]] of STEPS.entries()) {
      await file.exec(sql);
      // The second line looks like a stack frame, because stack traces are logged.
      const plant = { id: BigInt(id), name: 'canary-name\n    at canary-frame', tag: 'canary-tag' };
      const response = await create(port, plant, { Authorization: 'Bearer canary-token' });
      expect(response?.outcome).to.equal(outcome);
      if (outcome !== 200) expect(JSON.stringify(response)).not.to.match(CANARY);
    }
    await file.close();
    expect(await service.stop()).to.equal(0);
    expect(service.stdout + service.stderr).not.to.match(/canary|insert into|select /i);
    // A log without failures would contain no secrets either.
    expect(service.stderr.match(/"error":5\d+,"err":\{"type":"\w+"/g)).to.have.lengthOf(2);
  });
});

describe('A database password with special characters', () => {
  const PASSWORD = 'p@ss/w:o?r#d%41&+ canary';
  const folder = temporaryFolder();
  const user = `plants_${process.pid}`;

  for (const server of [postgresServer, mariadbServer]) {
    describe(`on ${server.name}`, () => {
      const databases = databasesOn(server);
      const admin = connectTo(server);
      // Nothing to drop if the server is unavailable.
      after(() => Promise.allSettled([admin.raw(`DROP USER ${user}`)]).then(() => admin.destroy()));

      it('works percent-encoded in the URL, and appears in no message if it is wrong', async () => {
        const isPostgres = server.client === 'pg';
        const password = `'${PASSWORD.replace('?', '\\?')}'`;
        if (isPostgres) await admin.raw(`CREATE ROLE ${user} LOGIN SUPERUSER PASSWORD ${password}`);
        else await admin.raw(`GRANT ALL ON *.* TO ${user} IDENTIFIED BY ${password}`);
        const url = Object.assign(new URL(await databases.create()), { username: user });
        const migrate = (password: string) => {
          url.password = encodeURIComponent(password);
          return plantStore(folder, ['migrate'], { DATABASE_URL: url.href }).result();
        };
        expect(await migrate(PASSWORD)).to.include({ exitCode: 0, stderr: '' });
        const { stderr } = await migrate(`${PASSWORD}!`);
        // PostgreSQL may trust local users.
        if (!isPostgres) expect(stderr).to.match(/^plant-store: cannot open mysql:.*Access denied/);
        expect(stderr).not.to.match(CANARY);
      });
    });
  }
});
