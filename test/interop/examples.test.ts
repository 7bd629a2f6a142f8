import { cpSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { httpContract } from '../contract/http/index.js';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { endProgramsAfterAll, endProgramsAfterEach, Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { RawClient, request } from '../support/raw-http.js';
import { skipUnless } from '../support/skip-unless.js';
import { installPackage, skipUnlessInteropInstalled } from './interop.js';

/** 2^53 + 1, which no JavaScript number can represent, and 2^53, to which it is rounded. */
const ODD = '9007199254740993';
const EVEN = '9007199254740992';
const TOKEN = 'example-token';
const NATS_SERVER = '/usr/sbin/nats-server';
const AUTHORIZED = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

describe('Installed from the tarball,', () => {
  let folder: string;
  before(function () {
    skipUnlessInteropInstalled(this);
    folder = installPackage();
  });

  /** Copies an example into a new folder from which its packages resolve. */
  function copyExample(example: string): string {
    const copy = mkdtempSync(join(folder, `${example}-`));
    cpSync(inRepository(`docs/examples/${example}`), copy, { recursive: true });
    return copy;
  }

  async function start(example: string, file: string, environment: Readonly<Record<string, string>> = {}) {
    const copy = copyExample(example);
    const all = { PORT: '0', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'warn', ...environment };
    const program = new Program(copy, [process.execPath, file], all);
    return { copy, program, port: await program.port() };
  }

  describe('the core in a Fastify service', () => {
    endProgramsAfterAll();
    let copy: string;
    let program: Program;
    let port: number;
    before(async () => {
      ({ copy, program, port } = await start('fastify', 'service.js', { BODY_LIMIT: '1kb' }));
    });
    const create = (body: string, headers: Readonly<Record<string, string>> = AUTHORIZED) =>
      post(port, '/plants', body, headers);

    it('creates a plant and returns only its name and tag', async () => {
      const response = await create(`{"id":${ODD},"name":"Monstera","tag":"indoor"}`);
      expect(response).to.deep.equal({ status: 200, body: '{"name":"Monstera","tag":"indoor"}' });
    });

    it('distinguishes ids above 2^53, and a retry from a conflict', async () => {
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.equal({ status: 200, body: '{"name":"Ficus"}' });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.include(rejected(409, 40902));
      expect(await create(`{"id":${EVEN},"name":"Aloe"}`)).to.deep.include(rejected(409, 40901));
    });

    it('returns the error numbers of the interface', async () => {
      expect(await create('{"id":3,"name":"Aloe"}', { 'Content-Type': 'application/json' })).to.deep.include(
        rejected(401, 40101),
      );
      expect(await create('{"id":3', { ...AUTHORIZED, Authorization: 'Bearer other' })).to.deep.include(
        rejected(401, 40102),
      );
      expect(await create('{"id":3')).to.deep.include(rejected(400, 40001));
      expect(await create('')).to.deep.include(rejected(400, 40001));
      expect(await create('{"id":9223372036854775808,"name":"Aloe"}')).to.deep.include(rejected(400, 40002));
      expect(await create('{"id":3,"name":"\\u0000"}')).to.deep.include(rejected(400, 40003));
      expect(await create(`{"id":3,"name":"${'x'.repeat(1024)}"}`)).to.deep.include(rejected(413, 41301));
      expect(await create('{}', { ...AUTHORIZED, 'Content-Type': 'text/html' })).to.deep.include(rejected(415, 41501));
    });

    for (const { group, name, run } of httpContract) {
      if (group !== 'specification') continue;
      it(`${group}: ${name}`, () => run({ baseUrl: `http://127.0.0.1:${port}`, token: TOKEN }));
    }

    it('does not affect the parser or the errors of other routes', async () => {
      const json = { 'Content-Type': 'application/json' };
      expect(await post(port, '/notes', '{"id":9007199254740993}', json)).to.deep.equal({
        status: 200,
        body: '{"noted":{"id":9007199254740992}}',
      });
      const { status, body } = await post(port, '/notes', '{"id":', json);
      expect([status, JSON.parse(body).statusCode]).to.deep.equal([400, 400]);
    });

    it('closes its storage on shutdown and leaves its plants in the file', async () => {
      expect(await program.kill('SIGTERM').exited()).to.equal(0);
      const lines = await exportPlants(folder, `sqlite:${join(copy, 'plants.db')}`);
      expect(lines).to.include.members([
        `{"id":${EVEN},"name":"Ficus"}`,
        `{"id":${ODD},"name":"Monstera","tag":"indoor"}`,
      ]);
    });
  });

  describe('the core behind a queue', () => {
    endProgramsAfterEach();
    const work = async (copy: string, jobs: string | Buffer) => {
      const worker = new Program(copy, [process.execPath, 'worker.js'], {});
      worker.process.stdin?.end(jobs);
      expect(await worker.exited(), worker.stderr).to.equal(0);
      const results = worker.stdout.trimEnd().split('\n');
      return results.map((line) => JSON.parse(line)).sort((a, b) => a.job - b.job);
    };

    it('settles each job according to the outcome of its plant', async () => {
      const copy = copyExample('queue-worker');
      const jobs = [
        `{"id":${ODD},"name":"Monstera","tag":"indoor"}`,
        `{"id":${EVEN},"name":"Ficus\u2028é"}`,
        `{"id":${EVEN},"name":"Ficus\u2028é"}`,
        `{"id":${EVEN},"name":"Aloe"}`,
        '{"id":7,"name":"Aloe","tag":null}',
        '{"id":9223372036854775808,"name":"Aloe"}',
        '{"id":7,"name":"\\u0000"}',
        '{"id":7,',
        '',
      ];
      const notUtf8 = Buffer.from('{"id":7,"name":"\xff"}', 'latin1');
      const results = await work(copy, Buffer.concat([Buffer.from(`${jobs.join('\n')}\n`), notUtf8]));
      expect(results.map(({ message, ...result }) => result)).to.deep.equal([
        { job: 1, state: 'accepted' },
        { job: 2, state: 'accepted' },
        { job: 3, state: 'accepted', error: 40902 },
        { job: 4, state: 'rejected', error: 40901 },
        { job: 5, state: 'rejected', error: 40002 },
        { job: 6, state: 'rejected', error: 40002 },
        { job: 7, state: 'rejected', error: 40003 },
        { job: 8, state: 'rejected', error: 40001 },
        { job: 9, state: 'rejected', error: 40001 },
        { job: 10, state: 'rejected', error: 40001 },
      ]);
      expect(await exportPlants(folder, `sqlite:${join(copy, 'plants.db')}`)).to.deep.equal([
        `{"id":${EVEN},"name":"Ficus\u2028é"}`,
        `{"id":${ODD},"name":"Monstera","tag":"indoor"}`,
      ]);
    });

    it('reports 40902 for jobs that it settled before it was killed', async () => {
      const copy = copyExample('queue-worker');
      const jobs = Array.from({ length: 3000 }, (_, index) => `{"id":${index},"name":"Monstera"}\n`);
      const killed = new Program(copy, [process.execPath, 'worker.js'], {});
      killed.type(jobs.join(''));
      await killed.waitForOutput(/"job":99,/);
      await killed.kill('SIGKILL').exited();
      const acknowledged = [...killed.stdout.matchAll(/"job":(\d+),"state":"accepted"}\n/g)];
      expect(acknowledged).to.have.lengthOf.within(1, jobs.length);
      const results = await work(copy, jobs.join(''));
      expect(results.filter(({ state }) => state === 'accepted')).to.have.lengthOf(jobs.length);
      const errors = acknowledged.map(([, job]) => results[Number(job) - 1].error);
      expect(new Set(errors)).to.deep.equal(new Set([40902]));
    });

    it('does what its README shows', async () => {
      const copy = copyExample('queue-worker');
      const text = readFileSync(join(copy, 'README.md'), 'utf8');
      const blocks = [...text.matchAll(/```console\n\$ (.*)\n([\s\S]*?)```/g)];
      expect(blocks).to.have.lengthOf(2);
      for (const [, command = '', output] of blocks) {
        const shell = new Program(copy, ['sh', '-c', command], {});
        expect(await shell.exited(), shell.stderr).to.equal(0);
        expect(shell.stdout).to.equal(output);
      }
    });
  });

  describe('the core behind NATS', () => {
    endProgramsAfterAll();
    let copy: string;
    let service: Program;
    let environment: { readonly NATS_URL: string };
    before(async function () {
      skipUnless(this, existsSync(NATS_SERVER), `nats-server, at ${NATS_SERVER}`);
      copy = copyExample('nats');
      const server = new Program(copy, [NATS_SERVER, '--addr', '127.0.0.1', '--port', '-1'], {});
      const [, port] = await server.waitForOutput(/client connections on 127\.0\.0\.1:(\d+)/);
      await server.waitForOutput(/Server is ready/);
      environment = { NATS_URL: `127.0.0.1:${port}` };
      service = await startService();
    });

    const startService = async () => {
      const program = new Program(copy, [process.execPath, 'service.js'], environment);
      await program.waitForOutput(/^listens on/m);
      return program;
    };
    const send = async (...newPlants: readonly string[]) => {
      const client = new Program(copy, [process.execPath, 'client.js', ...newPlants], environment);
      expect(await client.exited(), client.stderr).to.equal(0);
      return client.stdout;
    };

    it('does what its README shows', async () => {
      const text = readFileSync(join(copy, 'README.md'), 'utf8');
      const block = /```console\n\$ node service.js &\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
      const commands = [...block.matchAll(/^\$ node client\.js (.*)\n((?:\{.*\n)+)/gm)];
      expect(commands).to.have.lengthOf(2);
      for (const [, args = '', output] of commands)
        expect(await send(...args.split("'").filter((part) => part.startsWith('{')))).to.equal(output);
    });

    it('responds to each request with the plant or the error', async () => {
      const newPlants = [
        `{"id":${EVEN},"name":"Ficus","tag":"indoor"}`,
        `{"id":${EVEN},"name":"Aloe"}`,
        '{"id":9223372036854775808,"name":"Aloe"}',
        '{"id":3,"name":"\\u0000"}',
        '{"id":3',
      ];
      const [plant, ...errors] = (await send(...newPlants)).trimEnd().split('\n');
      expect(plant).to.equal('{"name":"Ficus","tag":"indoor"}');
      expect(errors.map((json) => JSON.parse(json).error)).to.deep.equal([40901, 40002, 40003, 40001]);
    });

    it('exits on SIGTERM and leaves its plants in the file; another instance continues', async () => {
      const other = await startService();
      expect(await service.kill('SIGTERM').exited(), service.stderr).to.equal(0);
      expect(await send('{"id":4,"name":"Aloe"}')).to.equal('{"name":"Aloe"}\n');
      expect(await other.kill('SIGTERM').exited(), other.stderr).to.equal(0);
      const lines = await exportPlants(folder, `sqlite:${join(copy, 'plants.db')}`);
      expect(lines).to.include.members(['{"id":4,"name":"Aloe"}', `{"id":${EVEN},"name":"Ficus","tag":"indoor"}`]);
    });
  });

  describe('the HTTP interface mounted in a Koa app', () => {
    endProgramsAfterAll();
    let copy: string;
    let program: Program;
    let port: number;
    before(async () => {
      ({ copy, program, port } = await start('koa-mounted', 'app.js', { BODY_LIMIT: '1kb' }));
    });
    const create = (body: string, headers: Readonly<Record<string, string>> = AUTHORIZED) =>
      post(port, '/garden/plants', body, headers);

    it('creates plants under its path, with exact ids, and distinguishes a retry from a conflict', async () => {
      const { status, body } = await create(`{"id":${ODD},"name":"Monstera","tag":"indoor"}`);
      expect({ status, body }).to.deep.equal({ status: 200, body: '{"name":"Monstera","tag":"indoor"}' });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.include({ status: 200 });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.include(rejected(409, 40902));
      expect(await create(`{"id":${EVEN},"name":"Aloe"}`)).to.deep.include(rejected(409, 40901));
    });

    it('handles its own errors, without the error handling of the app', async () => {
      expect(await create('{')).to.deep.include(rejected(400, 40001));
      expect(await create('{}', { 'Content-Type': 'application/json' })).to.deep.include(rejected(401, 40101));
      expect(await create(`{"id":3,"name":"${'x'.repeat(1024)}"}`)).to.deep.include(rejected(413, 41301));
      expect(await create('{}', { ...AUTHORIZED, 'Content-Type': 'text/plain' })).to.deep.include(rejected(415, 41501));
    });

    it('returns its own 404 and 405 under its path; the app returns its 404 elsewhere', async () => {
      for (const path of ['/garden', '/garden/', '/garden/nothing', '/garden/plants/'])
        expect(await post(port, path, '{}', AUTHORIZED), path).to.deep.include(rejected(404, 40401));
      for (const path of ['/plants', '/gardens/plants', '/'])
        expect(await post(port, path, '{}', AUTHORIZED), path).to.include({ status: 404, body: 'Sorry: 404' });
      const wrongMethod = await fetch(`http://127.0.0.1:${port}/garden/plants`);
      expect([wrongMethod.status, wrongMethod.headers.get('Allow')]).to.deep.equal([405, 'POST']);
    });

    it('does not affect the routes of the app', async () => {
      const json = { 'Content-Type': 'application/json' };
      expect(await post(port, '/notes', '{"id":1}', json)).to.include({ status: 200, body: '{"noted":{"id":1}}' });
      expect(await post(port, '/notes', '{', json)).to.include({ status: 400, body: 'Sorry: 400' });
    });

    it('declares its path as the server URL in the description', async () => {
      const described = await fetch(`http://127.0.0.1:${port}/garden/openapi.json?again`);
      expect(await described.json()).to.deep.include({ servers: [{ url: '/garden' }] });
      const client = await RawClient.connect(port);
      const absolute = await client.send(request(`GET http://elsewhere.example/garden/openapi.json`)).readResponse();
      client.close();
      expect(absolute?.json()).to.deep.include({ servers: [{ url: '/garden' }] });
    });

    it('rejects a request before its body has arrived', async () => {
      const client = await RawClient.connect(port);
      client.send(request('POST /garden/plants', { 'Content-Length': '1000000' }, '{"id":'));
      const response = await client.readResponse();
      expect(response).to.deep.include({ status: 401 });
      expect(response?.headers).to.include({ connection: 'close' });
      client.close();
    });

    it('serves a client that waits for 100 Continue, which it receives twice', async () => {
      const client = await RawClient.connect(port);
      const body = '{"id":5,"name":"Aloe"}';
      client.send(
        request('POST /garden/plants', { ...AUTHORIZED, Expect: '100-continue', 'Content-Length': `${body.length}` }),
      );
      expect(await client.readResponse()).to.include({ status: 100 });
      expect(await client.readResponse()).to.include({ status: 100 });
      client.send(body);
      expect(await client.readResponse()).to.include({ status: 200, body: '{"name":"Aloe"}' });
      client.close();
    });

    it('serves other clients after one has disconnected while sending its body', async () => {
      const client = await RawClient.connect(port);
      client.send(request('POST /garden/plants', { ...AUTHORIZED, 'Content-Length': '100' }, '{"id":'));
      client.close();
      await client.ended();
      expect(await create('{"id":6,"name":"Aloe"}')).to.include({ status: 200 });
    });

    it('completes admitted requests on SIGTERM, rejects the others, and closes its storage', async () => {
      const body = '{"id":7,"name":"Aloe"}';
      const admitted = await RawClient.connect(port);
      const headers = { ...AUTHORIZED, Expect: '100-continue', 'Content-Length': `${body.length}` };
      admitted.send(request('POST /garden/plants', headers));
      // The second 100 Continue means that the request is admitted.
      await admitted.readResponse();
      await admitted.readResponse();
      const late = await RawClient.connect(port);
      late.send(request('POST /garden/plants', AUTHORIZED, '{"id":8,"name":"Aloe"}').subarray(0, 20));
      // A response on a later connection means that the earlier bytes were read.
      await post(port, '/notes', '{}', AUTHORIZED);
      program.kill('SIGTERM');
      while (await isListening(port));
      late.send(request('POST /garden/plants', AUTHORIZED, '{"id":8,"name":"Aloe"}').subarray(20));
      expect((await late.readResponse())?.json()).to.include({ error: 50303 });
      admitted.send(body);
      expect(await admitted.readResponse()).to.include({ status: 200 });
      for (const client of [late, admitted]) client.close();
      expect(await program.exited()).to.equal(0);
      const lines = await exportPlants(folder, `sqlite:${join(copy, 'plants.db')}`);
      expect(lines).to.include.members([`{"id":${EVEN},"name":"Ficus"}`, '{"id":7,"name":"Aloe"}']);
    });

    it('finds no body if a body parser runs first', async () => {
      const edited = copyExample('koa-mounted');
      const text = readFileSync(join(edited, 'app.js'), 'utf8');
      const parser = 'app.use(bodyParser());\n';
      expect(text).to.include(parser);
      writeFileSync(
        join(edited, 'app.js'),
        text.replace(parser, '').replace('app.use(mount', `${parser}app.use(mount`),
      );
      const other = new Program(edited, [process.execPath, 'app.js'], { PORT: '0', ACCESS_TOKENS: TOKEN });
      const response = await post(await other.port(), '/garden/plants', '{"id":1,"name":"Aloe"}', AUTHORIZED);
      expect(response).to.deep.include(rejected(400, 40001));
    });
  });

  describe('the service with a custom repository', () => {
    endProgramsAfterAll();
    const databases = databasesOn(postgresServer);
    const TABLE = 'CREATE TABLE garden (number bigint PRIMARY KEY, label text NOT NULL, kind text)';

    it('creates, imports and exports plants in its table', async () => {
      const url = await databases.create();
      const garden = databases.connect(url);
      await garden.raw(TABLE);
      const copy = copyExample('own-repository');
      const cli = join(folder, 'node_modules/plant-store/dist/composition/cli.js');
      const environment = { GARDEN_URL: url, PLUGINS: './garden.js', PORT: '0', ACCESS_TOKENS: TOKEN };
      const run = (command: string) => new Program(copy, [process.execPath, cli, command], environment);
      const program = run('serve');
      const port = await program.port();
      const create = (body: string) => post(port, '/plants', body, AUTHORIZED);
      expect(await create(`{"id":${ODD},"name":"Monstera","tag":"indoor"}`)).to.include({ status: 200 });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.include({ status: 200 });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.include(rejected(409, 40902));
      expect(await create(`{"id":${EVEN},"name":"Aloe"}`)).to.deep.include(rejected(409, 40901));
      const { rows } = await garden.raw('SELECT * FROM garden ORDER BY number');
      expect(rows).to.deep.equal([
        { number: EVEN, label: 'Ficus', kind: null },
        { number: ODD, label: 'Monstera', kind: 'indoor' },
      ]);

      const imported = run('import');
      imported.process.stdin?.end(`{"id":${EVEN},"name":"Ficus"}\n{"id":5,"name":"Aloe"}\n`);
      expect(await imported.exited(), imported.stderr).to.equal(0);
      expect(imported.stderr).to.equal('1 plant created, 1 already stored, 0 lines rejected\n');
      const exported = run('export');
      expect(await exported.exited(), exported.stderr).to.equal(0);
      expect(exported.stdout).to.equal(
        `{"id":5,"name":"Aloe"}\n{"id":${EVEN},"name":"Ficus"}\n{"id":${ODD},"name":"Monstera","tag":"indoor"}\n`,
      );
      await garden.raw('DROP TABLE garden');
      expect(await create('{"id":3,"name":"Aloe"}')).to.deep.include(rejected(503, 50301));
      expect(await program.kill('SIGTERM').exited()).to.equal(0);
    });

    it('fulfils the repository contract', async () => {
      const url = await databases.create();
      await databases.connect(url).raw(TABLE);
      const copy = copyExample('own-repository');
      writeFileSync(join(copy, 'contract.mjs'), CONTRACT);
      const run = new Program(copy, [process.execPath, 'contract.mjs'], { GARDEN_URL: url });
      expect(await run.exited(), run.stderr).to.equal(0);
      expect(Number(run.stdout)).to.be.greaterThan(30);
    });
  });

  it('the example of a unit test of a use case passes', async () => {
    const copy = copyExample('use-case-test');
    const mocha = inRepository('node_modules/mocha/bin/mocha.js');
    const run = new Program(copy, [process.execPath, mocha, '--no-config', 'create-plant.test.js'], {});
    expect(await run.exited(), run.stdout).to.equal(0);
    expect(run.stdout).to.include('1 passing');
  });

  describe('the embedding guide', () => {
    const guide = readFileSync(inRepository('docs/embed.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code = '']) => ({
      language,
      code,
    }));

    it('contains only JavaScript and one command, which installs plant-store-embed as plant-store', () => {
      expect(blocks).to.have.lengthOf.at.least(4);
      const commands = blocks.filter(({ language }) => language !== 'js').map(({ code }) => code);
      const { version } = JSON.parse(readFileSync(inRepository('package.json'), 'utf8'));
      const tarball = `plant-store-embed-${version}.tgz`;
      expect(commands).to.deep.equal([`npm install plant-store@file:../plant-store/${tarball}\n`]);
    });

    const programs = blocks.filter(({ language }) => language === 'js');
    for (const [index, { code }] of programs.entries()) {
      it(`states the output of block ${index + 1}`, async () => {
        const guideFolder = mkdtempSync(join(folder, 'guide-'));
        writeFileSync(join(guideFolder, 'block.mjs'), code);
        const run = new Program(guideFolder, [process.execPath, 'block.mjs'], {});
        expect(await run.exited(), run.stderr).to.equal(0);
        const stated = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
        expect(stated).to.have.lengthOf.at.least(1);
        expect(run.stdout.trimEnd().split('\n')).to.deep.equal(stated);
      });
    }
  });
});

/** A minimal contract runner, which empties the table before each case. */
const CONTRACT = `
import pg from 'pg';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { plantRepositoryContract } from 'plant-store/contract';
import { GardenRepository } from './garden.js';

const connectionString = process.env.GARDEN_URL;
const admin = new pg.Client({ connectionString });
await admin.connect();
const open = async () => {
  await admin.query('TRUNCATE garden');
  return new BatchingPlantRepository(new GardenRepository(new pg.Pool({ connectionString })), { maxWrites: 4 });
};
for (const { name, run } of plantRepositoryContract) {
  await run({ open }).catch((cause) => { throw new Error(name, { cause }); });
}
await admin.end();
console.log(plantRepositoryContract.length);
`;

async function post(port: number, path: string, body: string, headers: Readonly<Record<string, string>>) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
  const text = await response.text();
  const error = response.status >= 400 && text.startsWith('{') ? JSON.parse(text).error : undefined;
  return { status: response.status, body: text, ...(typeof error === 'number' ? { error } : {}) };
}

function rejected(status: number, error: number) {
  return { status, error };
}

async function isListening(port: number): Promise<boolean> {
  return RawClient.connect(port).then(
    (client) => {
      client.close();
      return true;
    },
    () => false,
  );
}

/** Exports the plants of a database with the package in `folder`. */
async function exportPlants(folder: string, databaseUrl: string): Promise<string[]> {
  const cli = join(folder, 'node_modules/plant-store/dist/composition/cli.js');
  const run = new Program(folder, [process.execPath, cli, 'export', '--database-url', databaseUrl], {});
  expect(await run.exited(), run.stderr).to.equal(0);
  return run.stdout.trimEnd().split('\n');
}
