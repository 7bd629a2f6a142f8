import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { loadSqliteDriver } from '../../../adapters/driven/knex/sqlite.js';
import { readVersion } from '../../../composition/version.js';
import { create, serve, toLines } from '../../support/client.js';
import { type Program, plantStore } from '../../support/executable.js';
import { portOf } from '../../support/port.js';
import { exchange, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
import { readSqlitePlants } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';

const PLANT = { id: 1n, name: 'Monstera' };

describe('Starting the service', () => {
  const folder = temporaryFolder();

  describe('without any configuration', () => {
    const folder = temporaryFolder();
    const file = join(folder, 'plants.db');
    const start = (...wrapper: string[]) => plantStore(folder, [], { PORT: '0', BASE_PATH: '/garden' }, wrapper);
    /** Runs the curl command that a service prints. */
    const runCommand = async (service: Program) => {
      const [, url = '', authorization = '', contentType = '', body = ''] = await service.waitForOutput(
        /^curl -i (\S+\/garden\/plants) -H 'Authorization: ([^']+)' -H 'Content-Type: ([^']+)' -d '([^']+)'$/m,
      );
      const headers = { Authorization: authorization, 'Content-Type': contentType };
      return { authorization, response: await (await fetch(url, { method: 'POST', headers, body })).json() };
    };
    let service: Program;
    let authorization: string;
    before(() => {
      service = start('sh', '-c', 'umask 000; exec "$@"', 'sh');
    });

    it('prints a curl command that creates a plant', async () => {
      const result = await runCommand(service);
      authorization = result.authorization;
      expect(authorization).to.match(/^Bearer [\w-]{22,}$/);
      expect(result.response).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    });

    it('requires the token of that command', async () => {
      expect((await exchange(await service.port(), request('POST /garden/plants')))?.outcome).to.equal(40101);
    });

    it('stores plants in ./plants.db, which only its owner can read, even with umask 000', async () => {
      expect(await readSqlitePlants(file)).to.deep.equal([{ ...PLANT, tag: 'indoor' }]);
      const files = readdirSync(folder);
      expect(files).to.have.members(['plants.db', 'plants.db-wal', 'plants.db-shm']);
      for (const name of files) expect((statSync(join(folder, name)).mode & 0o777).toString(8), name).to.equal('600');
    });

    it('logs the new store and the start', async () => {
      const storage = `sqlite:${file}`;
      const [created] = await service.waitForOutput(/^.*"created a new, empty store".*$/m);
      expect(JSON.parse(created)).to.include({ level: 'info', storage });
      const [started] = await service.waitForOutput(/^.*"started".*$/m);
      expect(JSON.parse(started)).to.deep.include({
        ...{ level: 'info', version: readVersion(), node: process.version, storage },
        ...{ driver: loadSqliteDriver()?.name, schema: 'created' },
        url: `http://127.0.0.1:${await service.port()}/garden`,
      });
    });

    it('prints another token at the next start', async () => {
      await service.stop();
      const result = await runCommand(start());
      expect(result.response).to.include({ error: 40902 });
      expect(result.authorization).not.to.equal(authorization);
    });
  });

  it('prints its URL, but no token if tokens are configured, and no warning on standard error', async () => {
    const NODE_OPTIONS = '--trace-deprecation --trace-warnings';
    const service = serve(folder, { HOST: '0.0.0.0', DATABASE_URL: 'sqlite:warnings.db', NODE_OPTIONS });
    const port = await service.port();
    await exchange(port, request('GET /openapi.json'));
    expect((await create(port, PLANT))?.outcome).to.equal(200);
    await service.stop();
    expect(service.stdout).to.match(
      /^Plant Store listens on (http:\/\/0\.0\.0\.0:\d+)\nAPI documentation: \1\/docs\n$/,
    );
    expect(service.stderr).not.to.contain(TOKEN);
    for (const line of toLines(service.stderr)) expect(() => JSON.parse(line), line).not.to.throw();
  });

  it('does not start without a token on an address that is not loopback, and reports why in one line', async () => {
    const service = plantStore(folder, [], { HOST: '0.0.0.0', PORT: '0', DATABASE_URL: 'memory:' });
    const { exitCode, stderr } = await service.result();
    expect(exitCode).to.equal(78);
    expect(stderr).to.match(/^plant-store: ACCESS_TOKENS, .* must be set: HOST="0\.0\.0\.0".*\n$/);
  });

  it('reports in one line that the port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const PORT = `${portOf(other)}`;
    const { exitCode, stderr } = await serve(folder, { DATABASE_URL: 'memory:', PORT }).result();
    other.close();
    const problem = 'the port is in use; stop the other program or choose another port';
    expect(stderr).to.equal(`plant-store: cannot listen on HOST=127.0.0.1 PORT=${PORT}: ${problem}\n`);
    expect(exitCode).to.equal(1);
  });
});
