import { once } from 'node:events';
import { mkdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { loadSqliteDriver } from '../../../adapters/driven/knex/sqlite-database.js';
import { readVersion } from '../../../composition/version.js';
import { create, serve, toLines } from '../../support/client.js';
import { plantStore } from '../../support/executable.js';
import { RawClient, request } from '../../support/raw-http.js';
import { TOKEN } from '../../support/service.js';
import { readSqlitePlants } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('Starting the service', () => {
  const folder = temporaryFolder();

  const serveUntilExit = async (environment: Readonly<Record<string, string>>) => {
    const run = plantStore(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ...environment });
    const { exitCode, stdout, stderr } = await run.result();
    return { exitCode, lines: toLines(stderr), all: stdout + stderr };
  };

  function emptyFolder(name: string): string {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }

  describe('without any configuration', () => {
    it('prints a curl command, with a new token for every run, that creates a plant', async () => {
      const authorizations = new Set<string>();
      for (const expected of [{ name: 'Monstera', tag: 'indoor' }, { error: 40902 }]) {
        const service = plantStore(folder, [], { PORT: '0', BASE_PATH: '/garden' });
        const [line] = await service.waitForOutput(/^curl .*$/m);
        const [, url = '', authorization = '', contentType = '', body = ''] =
          /^curl -i (\S+\/garden\/plants) -H 'Authorization: ([^']+)' -H 'Content-Type: ([^']+)' -d '([^']+)'$/.exec(
            line,
          ) ?? [];
        const headers = { Authorization: authorization, 'Content-Type': contentType };
        expect(await (await fetch(url, { method: 'POST', headers, body })).json()).to.include(expected);
        authorizations.add(authorization);
        await service.stop();
      }
      expect(authorizations).to.have.property('size', 2);
      for (const authorization of authorizations) expect(authorization).to.match(/^Bearer [\w-]{22,}$/);
    });

    it('requires its token, and stores plants in ./plants.db', async () => {
      const service = plantStore(emptyFolder('working-folder'), [], { PORT: '0' });
      const [, token] = await service.waitForOutput(/Bearer ([^']+)'/);
      const port = await service.port();
      const plant = { id: 1n, name: 'Monstera' };
      expect((await create(port, plant))?.status).to.equal(401);
      expect((await create(port, plant, { Authorization: `Bearer ${token}` }))?.status).to.equal(200);
      const file = join(folder, 'working-folder', 'plants.db');
      expect(await readSqlitePlants(file)).to.deep.equal([plant]);
      const [created] = await service.waitForOutput(/^.*"created a new, empty store".*$/m);
      expect(JSON.parse(created)).to.include({ level: 'info', storage: `sqlite:${file}` });
      const [started] = await service.waitForOutput(/^.*"started".*$/m);
      expect(JSON.parse(started)).to.deep.include({
        ...{ level: 'info', version: readVersion(), node: process.version, storage: `sqlite:${file}` },
        ...{ driver: loadSqliteDriver()?.name, schema: 'created', url: `http://127.0.0.1:${port}` },
      });
    });
  });

  it('prints its URL, and no token if tokens are configured', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:' });
    await service.port();
    await service.stop();
    expect(service.stdout).to.match(
      /^Plant Store listens on (http:\/\/127\.0\.0\.1:\d+)\nAPI documentation: \1\/docs\n$/,
    );
    expect(service.stderr).not.to.contain(TOKEN);
  });

  describe('on an address that is not loopback', () => {
    it('does not start without a token, and reports why in one line', async () => {
      const { exitCode, lines } = await serveUntilExit({ HOST: '0.0.0.0' });
      expect(exitCode).to.equal(78);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(
        /^plant-store: ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set: HOST="0\.0\.0\.0"/,
      );
    });

    it('starts with a token', async () => {
      await serve(folder, { HOST: '0.0.0.0', DATABASE_URL: 'memory:' }).waitForOutput(
        /listens on http:\/\/0\.0\.0\.0:\d+\n/,
      );
    });
  });

  describe('reports in one line that it cannot listen', () => {
    it('on a port in use', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const address = other.address();
      const port = typeof address === 'object' ? `${address?.port}` : '';
      const { exitCode, lines } = await serveUntilExit({ PORT: port }).finally(() => other.close());
      expect(exitCode).to.equal(1);
      expect(lines).to.deep.equal([
        `plant-store: cannot listen on HOST=127.0.0.1 PORT=${port}: the port is in use; stop the other program or choose another port`,
      ]);
    });

    it('on an unknown host name', async () => {
      // A label has at most 63 characters (RFC 1035 §2.3.4), so this name is invalid without a DNS query.
      const host = 'x'.repeat(64);
      const { exitCode, lines } = await serveUntilExit({ HOST: host, ACCESS_TOKENS: TOKEN });
      expect(exitCode).to.equal(1);
      expect(lines).to.deep.equal([`plant-store: cannot listen on HOST=${host} PORT=0: unknown host name`]);
    });
  });

  it('creates a SQLite file for its owner only, even with umask 000', async () => {
    const service = plantStore(folder, [], { PORT: '0', DATABASE_URL: 'sqlite:garden.db' }, [
      'sh',
      '-c',
      'umask 000; exec "$@"',
      'sh',
    ]);
    await service.port();
    const readMode = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8);
    const files = ['', '-wal', '-shm'].map((suffix) => `garden.db${suffix}`);
    expect(files.map(readMode)).to.deep.equal(['600', '600', '600']);
  });

  it('reports each invalid setting in one line, without secrets', async () => {
    const { exitCode, lines, all } = await serveUntilExit({
      PORT: '99999',
      DATABASE_URL: 'postgres:gardener:canary-password@db.example/plants?password=canary-query',
      ACCESS_TOKENS: 'canary token',
      BODY_LIMIT: 'huge',
    });
    expect(exitCode).to.equal(78);
    const named = lines.map((line) => /^plant-store: (\w+)=".*" must be /.exec(line)?.[1]);
    expect(named).to.have.members(['PORT', 'DATABASE_URL', 'ACCESS_TOKENS', 'BODY_LIMIT']);
    expect(all).not.to.contain('canary');
  });

  it('causes no warning: standard error has only JSON lines', async () => {
    const service = serve(folder, {
      DATABASE_URL: 'sqlite:warnings.db',
      NODE_OPTIONS: '--trace-deprecation --trace-warnings',
    });
    const port = await service.port();
    const client = await RawClient.connect(port);
    await client.send(request('GET /openapi.json')).readResponse();
    await create(port, { id: 1n, name: 'Monstera' });
    await service.stop();
    for (const line of toLines(service.stderr)) expect(() => JSON.parse(line), line).not.to.throw();
  });
});
