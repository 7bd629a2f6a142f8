import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loadSqliteDriver } from '../../../adapters/driven/knex/sqlite.js';
import { readVersion } from '../../../composition/version.js';
import { serve, toLines } from '../../support/client.js';
import { sqliteStore } from '../../support/engines.js';
import { type Program, plantStore } from '../../support/executable.js';
import { exchange, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('Starting the service', () => {
  const folder = temporaryFolder();

  it('without settings prints a curl command with a new token, and creates ./plants.db for its owner only', async () => {
    const folder = temporaryFolder();
    const start = () => plantStore(folder, [], { PORT: '0' }, ['sh', '-c', 'umask 000; exec "$@"', 'sh']);
    /** Runs the curl command that a service prints. */
    const runCommand = async (service: Program) => {
      const [, url = '', Authorization = '', type = '', body = ''] = await service.waitForOutput(
        /^curl -i (\S+) -H 'Authorization: ([^']+)' -H 'Content-Type: ([^']+)' -d '([^']+)'$/m,
      );
      const response = await fetch(url, { method: 'POST', headers: { Authorization, 'Content-Type': type }, body });
      return { Authorization, response: await response.json() };
    };
    const service = start();
    const { Authorization, response } = await runCommand(service);
    expect(Authorization).to.match(/^Bearer [\w-]{22,}$/);
    expect(response).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    expect((await exchange(await service.port(), request('POST /plants')))?.outcome).to.equal(40101);
    const stored = await sqliteStore(join(folder, 'plants.db')).readPlants();
    expect(stored).to.deep.equal([{ id: 1n, name: 'Monstera', tag: 'indoor' }]);
    const files = readdirSync(folder);
    expect(files).to.have.members(['plants.db', 'plants.db-wal', 'plants.db-shm']);
    for (const name of files) expect(statSync(join(folder, name)).mode & 0o777, name).to.equal(0o600);

    await service.stop();
    const again = await runCommand(start());
    expect(again.response).to.include({ error: 40902 });
    expect(again.Authorization).not.to.equal(Authorization);
  });

  it('prints its URL but no configured token, and logs a new store, what started where, and no warning', async () => {
    const NODE_OPTIONS = '--trace-deprecation --trace-warnings';
    const settings = { HOST: '0.0.0.0', BASE_PATH: '/garden', DATABASE_URL: 'sqlite:new.db', NODE_OPTIONS };
    const service = serve(folder, settings);
    const port = await service.port();
    await exchange(port, request('GET /garden/openapi.json'));
    await service.stop();
    const url = `http://0.0.0.0:${port}/garden`;
    expect(service.stdout).to.equal(`Plant Store listens on ${url}\nAPI documentation: ${url}/docs\n`);
    expect(service.stderr).not.to.contain(TOKEN);
    // Throws for a warning of Node.
    const [created, started] = toLines(service.stderr).map((line) => JSON.parse(line));
    const storage = `sqlite:${join(folder, 'new.db')}`;
    expect(created).to.include({ level: 'info', msg: 'created a new, empty store', storage });
    expect(started).to.deep.include({
      ...{ level: 'info', msg: 'started', version: readVersion(), node: process.version, storage },
      ...{ driver: loadSqliteDriver()?.name, schema: 'created', url },
    });
  });
});
