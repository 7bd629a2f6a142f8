import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create, runFailingStart, serve, TOKEN, toLines, toOutcome } from '../../support/client.js';
import { Executable, endProgramsAfterEach } from '../../support/executable.js';
import { exchange, RawClient, request } from '../../support/raw-http.js';
import { readSqlitePlants } from '../../support/sqlite-file.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('Starting the service', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  const serveUntilExit = (environment: Readonly<Record<string, string>>) => runFailingStart(folder, environment);

  function emptyFolder(name: string): string {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }

  describe('without any configuration', () => {
    it('prints a curl command that creates a plant and, if repeated, gets error 40902', async () => {
      const service = new Executable(emptyFolder('first-run'), [], { PORT: '0' });
      const [line] = await service.waitForOutput(/^curl .*$/m);
      const [, url = '', authorization = '', contentType = '', body = ''] =
        /^curl -i (\S+) -H 'Authorization: ([^']+)' -H 'Content-Type: ([^']+)' -d '([^']+)'$/.exec(line) ?? [];
      const headers = { Authorization: authorization, 'Content-Type': contentType };
      const run = async () => (await fetch(url, { method: 'POST', headers, body })).json();

      expect(await run()).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
      expect(await run()).to.include({ error: 40902 });
    });

    it('creates a new token for every run', async () => {
      const tokens = await Promise.all(
        [1, 2].map(async () => {
          const service = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'memory:' });
          return (await service.waitForOutput(/Bearer ([^']+)'/))[1];
        }),
      );
      expect(new Set(tokens)).to.have.property('size', 2);
      for (const token of tokens) expect(token).to.match(/^[\w-]{22,}$/);
    });

    it('requires its token, and stores plants in ./plants.db', async () => {
      const service = new Executable(emptyFolder('working-folder'), [], { PORT: '0' });
      const [, token] = await service.waitForOutput(/Bearer ([^']+)'/);
      const port = await service.port();
      const plant = { id: 1n, name: 'Monstera' };
      expect((await create(port, plant))?.status).to.equal(401);
      expect((await create(port, plant, { Authorization: `Bearer ${token}` }))?.status).to.equal(200);
      expect(await readSqlitePlants(join(folder, 'working-folder', 'plants.db'))).to.deep.equal([plant]);
    });
  });

  describe('prints its URL', () => {
    it('with the actual port for PORT=0', async () => {
      const port = await serve(folder, { PORT: '0', DATABASE_URL: 'memory:' }).port();
      expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    });

    it('with the path prefix of the interface', async () => {
      const service = serve(folder, { BASE_PATH: '/garden', DATABASE_URL: 'memory:' });
      const [, port] = await service.waitForOutput(/^Plant Store listens on http:\/\/127\.0\.0\.1:(\d+)\/garden\n/);
      expect((await exchange(Number(port), request('GET /garden/plants')))?.status).to.equal(405);
      expect((await exchange(Number(port), request('GET /plants')))?.status).to.equal(404);
    });

    it('with the path prefix in the curl command', async () => {
      const service = new Executable(folder, [], { PORT: '0', BASE_PATH: '/garden', DATABASE_URL: 'memory:' });
      await service.waitForOutput(/^curl -i http:\/\/127\.0\.0\.1:\d+\/garden\/plants /m);
    });

    it('and no token if tokens are configured', async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:' });
      await service.port();
      await service.kill('SIGTERM').exited();
      expect(service.stdout).to.match(
        /^Plant Store listens on (http:\/\/127\.0\.0\.1:\d+)\nAPI documentation: \1\/docs\n$/,
      );
      expect(service.stderr).not.to.contain(TOKEN);
    });
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

  describe('with a SQLite file', () => {
    it('creates it and its directories for their owner only, even with umask 000', async () => {
      const service = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'sqlite:new/garden/plants.db' }, [
        'sh',
        '-c',
        'umask 000; exec "$@"',
        'sh',
      ]);
      await service.port();
      const readMode = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8);
      expect(['new', 'new/garden'].map(readMode)).to.deep.equal(['700', '700']);
      const files = ['', '-wal', '-shm'].map((suffix) => `new/garden/plants.db${suffix}`);
      expect(files.map(readMode)).to.deep.equal(['600', '600', '600']);
    });
  });

  it('creates plants and no file with memory:', async () => {
    const empty = emptyFolder('memory');
    const port = await serve(empty, { DATABASE_URL: 'memory:' }).port();
    expect(toOutcome(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    expect(readdirSync(empty)).to.deep.equal([]);
  });

  describe('with invalid settings', () => {
    it('reports each in one line, without secrets', async () => {
      const { exitCode, lines, all } = await serveUntilExit({
        PORT: '99999',
        DATABASE_URL: 'oracle://gardener:canary-password@db.example/plants?password=canary-query',
        ACCESS_TOKENS: 'canary token',
        BODY_LIMIT: 'huge',
      });
      expect(exitCode).to.equal(78);
      const named = lines.map((line) => /^plant-store: (\w+)=".*" must be /.exec(line)?.[1]);
      expect(named).to.have.members(['PORT', 'DATABASE_URL', 'ACCESS_TOKENS', 'BODY_LIMIT']);
      expect(all).not.to.contain('canary');
    });

    it('reports missing JWT settings', async () => {
      const { exitCode, lines } = await serveUntilExit({ JWT_ISSUER: 'https://a.example' });
      expect(exitCode).to.equal(78);
      expect(lines).to.deep.equal([
        'plant-store: JWT_AUDIENCE and JWT_JWKS_URL must be set: JWT_ISSUER, JWT_AUDIENCE, JWT_JWKS_URL require each other',
      ]);
    });
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
    await service.kill('SIGTERM').exited();
    for (const line of toLines(service.stderr)) expect(() => JSON.parse(line), line).not.to.throw();
  });
});
