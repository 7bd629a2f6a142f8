import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { Executable, endProgramsAfterEach } from '../support/executable.js';
import { needsProgram } from '../support/needs.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, linesOf, outcomeOf, serve, TOKEN } from './client.js';
import { plantsIn } from './sqlite-file.js';

describe('Starting the service', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  /** Runs the executable where it must end by itself, without listening. */
  async function runToEnd(environment: Readonly<Record<string, string>>) {
    const run = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'memory:', ...environment });
    const started = await run.says(/listens on/).then(
      () => true,
      () => false,
    );
    expect(started, 'it started').to.equal(false);
    return {
      exitCode: await run.exited(),
      lines: linesOf(run.stderr),
      all: run.stdout + run.stderr,
    };
  }

  function emptyFolder(name: string): string {
    const path = join(folder, name);
    mkdirSync(path);
    return path;
  }

  describe('without any configuration', () => {
    it('prints a curl command that creates a plant as it is pasted, and says so when it is pasted again', async function () {
      needsProgram(this, 'curl', '--version');
      const service = new Executable(emptyFolder('first-run'), [], { PORT: '0' });
      const [line] = await service.says(/^curl .*\n/m);
      const paste = () => spawnSync('bash', ['-c', line], { encoding: 'utf8' }).stdout;

      expect(paste())
        .to.match(/^HTTP\/1\.1 200 /)
        .and.to.contain('{"name":"Monstera","tag":"indoor"}');
      expect(paste())
        .to.match(/^HTTP\/1\.1 409 /)
        .and.to.contain('"error":40902');
    });

    it('makes another token for every run', async () => {
      const tokens = await Promise.all(
        [1, 2].map(async () => {
          const service = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'memory:' });
          return (await service.says(/Bearer ([^']+)'/))[1];
        }),
      );
      expect(new Set(tokens)).to.have.property('size', 2);
      for (const token of tokens) expect(token).to.match(/^[\w-]{22,}$/);
    });

    it('keeps plants in ./plants.db', async () => {
      const port = await new Executable(emptyFolder('working-folder'), [], { PORT: '0' }).port();
      expect((await exchange(port, request('POST /plants')))?.status).to.equal(401);
      expect(await plantsIn(join(folder, 'working-folder', 'plants.db'))).to.deep.equal([]);
    });
  });

  describe('says where it listens', () => {
    it('with the real port where any free one was asked for', async () => {
      const port = await serve(folder, { PORT: '0', DATABASE_URL: 'memory:' }).port();
      expect(outcomeOf(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    });

    it('with the path prefix, under which the interface then stands', async () => {
      const service = serve(folder, { BASE_PATH: '/garden', DATABASE_URL: 'memory:' });
      const [, port] = await service.says(/^Plant Store listens on http:\/\/127\.0\.0\.1:(\d+)\/garden\n/);
      expect((await exchange(Number(port), request('GET /garden/plants')))?.status).to.equal(405);
      expect((await exchange(Number(port), request('GET /plants')))?.status).to.equal(404);
    });

    it('with the path prefix in the curl command too', async () => {
      const service = new Executable(folder, [], { PORT: '0', BASE_PATH: '/garden', DATABASE_URL: 'memory:' });
      await service.says(/^curl -i http:\/\/127\.0\.0\.1:\d+\/garden\/plants /m);
    });

    it('and nothing else where tokens are configured: no token is shown', async () => {
      const service = serve(folder, { DATABASE_URL: 'memory:' });
      await service.port();
      await service.kill('SIGTERM').exited();
      expect(service.stdout).to.match(
        /^Plant Store listens on (http:\/\/127\.0\.0\.1:\d+)\nThe interface as a page: \1\/docs\n$/,
      );
      expect(service.stderr).not.to.contain(TOKEN);
    });
  });

  describe('on an address that others can reach', () => {
    it('refuses to start without a token, in one line', async () => {
      const { exitCode, lines } = await runToEnd({ HOST: '0.0.0.0' });
      expect(exitCode).to.equal(78);
      expect(lines).to.have.length(1);
      expect(lines[0]).to.match(
        /^plant-store: ACCESS_TOKENS, ACCESS_TOKENS_FILE or JWT_ISSUER must be set .*HOST="0\.0\.0\.0"/,
      );
    });

    it('starts with one', async () => {
      await serve(folder, { HOST: '0.0.0.0', DATABASE_URL: 'memory:' }).says(/listens on http:\/\/0\.0\.0\.0:\d+\n/);
    });
  });

  describe('where it cannot listen, says why in one line', () => {
    it('when another program has the port', async () => {
      const other = createServer().listen(0, '127.0.0.1');
      await once(other, 'listening');
      const address = other.address();
      const port = typeof address === 'object' ? `${address?.port}` : '';
      const { exitCode, lines } = await runToEnd({ PORT: port }).finally(() => other.close());
      expect(exitCode).to.equal(1);
      expect(lines).to.deep.equal([
        `plant-store: cannot listen on HOST=127.0.0.1 PORT=${port}: another program listens there; stop it, or choose another port`,
      ]);
    });

    it('when nobody knows the name of the host', async () => {
      // No label of a name is longer than 63 characters (RFC 1035 §2.3.4), so that no name server has to be asked.
      const host = 'x'.repeat(64);
      const { exitCode, lines } = await runToEnd({ HOST: host, ACCESS_TOKENS: TOKEN });
      expect(exitCode).to.equal(1);
      expect(lines).to.deep.equal([
        `plant-store: cannot listen on HOST=${host} PORT=0: the name of the host is not known`,
      ]);
    });
  });

  describe('with a SQLite file', () => {
    it('makes it and its folders for their owner alone, whatever the umask', async () => {
      const service = new Executable(folder, [], { PORT: '0', DATABASE_URL: 'sqlite:new/garden/plants.db' }, [
        'bash',
        '-c',
        'umask 000; exec "$@"',
        'bash',
      ]);
      await service.port();
      const modeOf = (path: string) => (statSync(join(folder, path)).mode & 0o777).toString(8);
      expect(['new', 'new/garden'].map(modeOf)).to.deep.equal(['700', '700']);
      const files = ['', '-wal', '-shm'].map((suffix) => `new/garden/plants.db${suffix}`);
      expect(files.map(modeOf)).to.deep.equal(['600', '600', '600']);
    });

    /** A store as the service leaves it behind. */
    async function store(name: string): Promise<Buffer> {
      const service = serve(folder, { DATABASE_URL: `sqlite:${name}` });
      await service.port();
      await service.kill('SIGTERM').exited();
      return readFileSync(join(folder, name));
    }

    const unusable: Readonly<Record<string, { reason: string; make: (path: string) => unknown }>> = {
      'that is no database': {
        reason: 'it is not a SQLite database',
        make: (path) => writeFileSync(path, 'Monstera, indoor\n'.repeat(1000)),
      },
      'that is a folder': { reason: 'it is a folder', make: (path) => mkdirSync(path) },
      'that is cut off': {
        reason: 'the database is damaged; restore a backup',
        make: async (path) => writeFileSync(path, (await store('whole.db')).subarray(0, 5000)),
      },
      'whose pages are damaged': {
        reason: 'the database is damaged; restore a backup',
        make: async (path) => writeFileSync(path, (await store('sound.db')).fill(0xaa, 4096)),
      },
      'under a path that leads through a file': {
        reason: 'a part of its path is a file, not a folder',
        make: (path) => writeFileSync(join(path, '..'), ''),
      },
    };
    for (const [index, [what, { reason, make }]] of Object.entries(unusable).entries()) {
      it(`${what}, says so in one line`, async () => {
        const name = what.startsWith('under') ? `part-${index}/plants.db` : `unusable-${index}.db`;
        await make(join(folder, name));
        const { exitCode, lines } = await runToEnd({ DATABASE_URL: `sqlite:${name}` });
        expect(exitCode).to.equal(1);
        expect(lines).to.deep.equal([`plant-store: cannot open the SQLite file ${join(folder, name)}: ${reason}`]);
      });
    }

    it('that another service has open: both create plants, and no id is given twice', async () => {
      const services = [1, 2].map(() => serve(folder, { DATABASE_URL: 'sqlite:shared.db' }));
      const ports = await Promise.all(services.map((service) => service.port()));
      const plants = Array.from({ length: 100 }, (_, index) => BigInt(index)).flatMap((id) =>
        ports.map((port) => ({ port, id, name: `from ${port}` })),
      );
      const outcomes = await Promise.all(
        plants.map(async ({ port, ...plant }) => ({ plant, outcome: outcomeOf(await create(port, plant)) })),
      );
      expect(new Set(outcomes.map(({ outcome }) => outcome))).to.deep.equal(new Set([200, 40901]));
      const created = outcomes.filter(({ outcome }) => outcome === 200).map(({ plant }) => plant);
      expect(await plantsIn(join(folder, 'shared.db'))).to.deep.equal(created);
    });

    it('that is new, when eight services start on it at the same moment: all of them come up', async () => {
      const ids = [1n, 2n, 3n, 4n, 5n, 6n, 7n, 8n];
      const services = ids.map((id) => ({ id, service: serve(folder, { DATABASE_URL: 'sqlite:raced.db' }) }));
      const outcomes = await Promise.all(
        services.map(async ({ id, service }) =>
          outcomeOf(await create(await service.port(), { id, name: 'Monstera' })),
        ),
      );
      expect(outcomes).to.deep.equal(ids.map(() => 200));
    });
  });

  it('with memory: creates plants and writes no file', async () => {
    const empty = emptyFolder('memory');
    const port = await serve(empty, { DATABASE_URL: 'memory:' }).port();
    expect(outcomeOf(await create(port, { id: 1n, name: 'Monstera' }))).to.equal(200);
    expect(readdirSync(empty)).to.deep.equal([]);
  });

  describe('with bad settings', () => {
    it('says each in a line of its own, and shows no secret', async () => {
      const { exitCode, lines, all } = await runToEnd({
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

    it('says what is missing where only a part of the settings of JWT is there', async () => {
      const { exitCode, lines } = await runToEnd({ JWT_ISSUER: 'https://a.example' });
      expect(exitCode).to.equal(78);
      expect(lines).to.deep.equal([
        'plant-store: JWT_AUDIENCE and JWT_JWKS_URL must be set too: JWT_ISSUER, JWT_AUDIENCE, JWT_JWKS_URL go together',
      ]);
    });
  });

  it('and running and stopping it calls forth no warning: standard error is JSON lines', async () => {
    const service = serve(folder, {
      DATABASE_URL: 'sqlite:warnings.db',
      NODE_OPTIONS: '--trace-deprecation --trace-warnings',
    });
    const port = await service.port();
    const client = await RawClient.connect(port);
    await client.send(request('GET /openapi.json')).answer();
    await create(port, { id: 1n, name: 'Monstera' });
    await service.kill('SIGTERM').exited();
    for (const line of linesOf(service.stderr)) expect(() => JSON.parse(line), line).not.to.throw();
  });
});
