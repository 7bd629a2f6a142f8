import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { endProgramsAfterAll, endProgramsAfterEach, Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { RawClient, request } from '../support/raw-http.js';
import { folderWithPackage, needsWide } from './wide.js';

/** 2^53 + 1, which a JavaScript number does not hold. */
const ODD = '9007199254740993';
const EVEN = '9007199254740992';
const TOKEN = 'example-token';
const AUTHORIZED = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };

describe('From the tarball, as their users would run them,', () => {
  let folder: string;
  before(function () {
    needsWide(this);
    folder = folderWithPackage();
  });

  /** A new folder with the files of an example, in which it finds its packages. */
  function copyOf(example: string): string {
    const copy = mkdtempSync(join(folder, `${example}-`));
    cpSync(inRepository(`docs/examples/${example}`), copy, { recursive: true });
    return copy;
  }

  async function start(example: string, file: string, environment: Readonly<Record<string, string>> = {}) {
    const place = copyOf(example);
    const all = { PORT: '0', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'warn', ...environment };
    const program = new Program(place, [process.execPath, file], all);
    return { place, program, port: await program.port() };
  }

  describe('the core in a Fastify service', () => {
    endProgramsAfterAll();
    let place: string;
    let program: Program;
    let port: number;
    before(async () => {
      ({ place, program, port } = await start('fastify', 'service.js', { BODY_LIMIT: '1kb' }));
    });
    const create = (body: string, headers: Readonly<Record<string, string>> = AUTHORIZED) =>
      post(port, '/plants', body, headers);

    it('creates a plant, and answers with its name and tag alone', async () => {
      const answer = await create(`{"id":${ODD},"name":"Monstera","tag":"indoor"}`);
      expect(answer).to.deep.equal({ status: 200, body: '{"name":"Monstera","tag":"indoor"}' });
    });

    it('keeps ids beyond 2^53 apart, and tells a retry from a conflict', async () => {
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.equal({ status: 200, body: '{"name":"Ficus"}' });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.include(refused(409, 40902));
      expect(await create(`{"id":${EVEN},"name":"Aloe"}`)).to.deep.include(refused(409, 40901));
    });

    it('answers what is wrong by the numbers of the interface', async () => {
      expect(await create('{"id":3,"name":"Aloe"}', { 'Content-Type': 'application/json' })).to.deep.include(
        refused(401, 40101),
      );
      expect(await create('{"id":3', { ...AUTHORIZED, Authorization: 'Bearer other' })).to.deep.include(
        refused(401, 40102),
      );
      expect(await create('{"id":3')).to.deep.include(refused(400, 40001));
      expect(await create('')).to.deep.include(refused(400, 40001));
      expect(await create('{"id":9223372036854775808,"name":"Aloe"}')).to.deep.include(refused(400, 40002));
      expect(await create('{"id":3,"name":"\\u0000"}')).to.deep.include(refused(400, 40003));
      expect(await create(`{"id":3,"name":"${'x'.repeat(1024)}"}`)).to.deep.include(refused(413, 41301));
      expect(await create('{}', { ...AUTHORIZED, 'Content-Type': 'text/html' })).to.deep.include(refused(415, 41501));
    });

    it('leaves the other routes their parser, and their errors', async () => {
      const json = { 'Content-Type': 'application/json' };
      expect(await post(port, '/notes', '{"id":9007199254740993}', json)).to.deep.equal({
        status: 200,
        body: '{"noted":{"id":9007199254740992}}',
      });
      const { status, body } = await post(port, '/notes', '{"id":', json);
      expect([status, JSON.parse(body).statusCode]).to.deep.equal([400, 400]);
    });

    it('closes its storage when it ends, and its plants are there for the next', async () => {
      expect(await program.kill('SIGTERM').exited()).to.equal(0);
      const lines = await exported(folder, `sqlite:${join(place, 'plants.db')}`);
      expect(lines).to.deep.equal([`{"id":${EVEN},"name":"Ficus"}`, `{"id":${ODD},"name":"Monstera","tag":"indoor"}`]);
    });
  });

  describe('the core behind a queue', () => {
    endProgramsAfterEach();
    const job = (name: unknown, plant: unknown) => `${JSON.stringify({ job: name, plant })}\n`;
    const work = async (place: string, jobs: string) => {
      const worker = new Program(place, [process.execPath, 'worker.js'], {});
      worker.process.stdin?.end(jobs);
      expect(await worker.exited(), worker.stderr).to.equal(0);
      const settled = worker.stdout.trimEnd().split('\n');
      return settled.map((line) => JSON.parse(line)).sort((a, b) => (a.job ?? jobs.length) - (b.job ?? jobs.length));
    };

    it('settles each job by what became of its plant', async () => {
      const place = copyOf('queue-worker');
      const jobs = [
        { id: ODD, name: 'Monstera', tag: 'indoor' },
        { id: EVEN, name: 'Ficus' },
        { id: EVEN, name: 'Ficus' },
        { id: EVEN, name: 'Aloe' },
        { id: 7, name: 'Aloe', tag: null },
        { id: '9223372036854775808', name: 'Aloe' },
        undefined,
      ];
      const lines = [...jobs.map((plant, index) => job(index, plant)), '{"job":7,\n', 'null\n'];
      expect(await work(place, lines.join(''))).to.deep.equal([
        { job: 0, state: 'accepted', reason: 'created' },
        { job: 1, state: 'accepted', reason: 'created' },
        { job: 2, state: 'accepted', reason: 'already-stored' },
        { job: 3, state: 'rejected', reason: 'id-taken' },
        { job: 4, state: 'rejected', reason: 'malformed' },
        { job: 5, state: 'rejected', reason: 'invalid' },
        { job: 6, state: 'rejected', reason: 'malformed' },
        { state: 'rejected', reason: 'malformed' },
        { state: 'rejected', reason: 'malformed' },
      ]);
      expect(await exported(folder, `sqlite:${join(place, 'plants.db')}`)).to.deep.equal([
        `{"id":${EVEN},"name":"Ficus"}`,
        `{"id":${ODD},"name":"Monstera","tag":"indoor"}`,
      ]);
    });

    it('has nothing to do for jobs that it answered before it was killed', async () => {
      const place = copyOf('queue-worker');
      const jobs = Array.from({ length: 3000 }, (_, index) => job(index, { id: `${index}`, name: 'Monstera' }));
      const killed = new Program(place, [process.execPath, 'worker.js'], {});
      killed.type(jobs.join(''));
      await killed.says(/"job":99,/);
      await killed.kill('SIGKILL').exited();
      const answered = [...killed.stdout.matchAll(/"job":(\d+),"state":"accepted","reason":"created"}\n/g)];
      expect(answered).to.have.lengthOf.within(1, jobs.length);
      const settled = await work(place, jobs.join(''));
      expect(settled.filter(({ state }) => state === 'accepted')).to.have.lengthOf(jobs.length);
      const again = answered.map(([, index]) => settled[Number(index)].reason);
      expect(new Set(again)).to.deep.equal(new Set(['already-stored']));
    });

    it('does what its README shows', async () => {
      const place = copyOf('queue-worker');
      const text = readFileSync(join(place, 'README.md'), 'utf8');
      const blocks = [...text.matchAll(/```console\n\$ (.*)\n([\s\S]*?)```/g)];
      expect(blocks).to.have.lengthOf(2);
      for (const [, command = '', output] of blocks) {
        const shell = new Program(place, ['sh', '-c', command], {});
        expect(await shell.exited(), shell.stderr).to.equal(0);
        expect(shell.stdout).to.equal(output);
      }
    });
  });

  describe("the HTTP interface in somebody else's Koa app", () => {
    endProgramsAfterAll();
    let place: string;
    let program: Program;
    let port: number;
    before(async () => {
      ({ place, program, port } = await start('koa-mounted', 'app.js', { BODY_LIMIT: '1kb' }));
    });
    const create = (body: string, headers: Readonly<Record<string, string>> = AUTHORIZED) =>
      post(port, '/garden/plants', body, headers);

    it('creates plants under its path, ids exact, and tells a retry from a conflict', async () => {
      const { status, body } = await create(`{"id":${ODD},"name":"Monstera","tag":"indoor"}`);
      expect({ status, body }).to.deep.equal({ status: 200, body: '{"name":"Monstera","tag":"indoor"}' });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.include({ status: 200 });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.include(refused(409, 40902));
      expect(await create(`{"id":${EVEN},"name":"Aloe"}`)).to.deep.include(refused(409, 40901));
    });

    it('answers its errors itself; the error handling of the app does not touch them', async () => {
      expect(await create('{')).to.deep.include(refused(400, 40001));
      expect(await create('{}', { 'Content-Type': 'application/json' })).to.deep.include(refused(401, 40101));
      expect(await create(`{"id":3,"name":"${'x'.repeat(1024)}"}`)).to.deep.include(refused(413, 41301));
      expect(await create('{}', { ...AUTHORIZED, 'Content-Type': 'text/plain' })).to.deep.include(refused(415, 41501));
    });

    it('has a 404 of its own under its path, the app has its own elsewhere', async () => {
      for (const path of ['/garden', '/garden/', '/garden/nothing', '/garden/plants/'])
        expect(await post(port, path, '{}', AUTHORIZED), path).to.deep.include(refused(404, 40401));
      for (const path of ['/plants', '/gardens/plants', '/'])
        expect(await post(port, path, '{}', AUTHORIZED), path).to.include({ status: 404, body: 'Sorry: 404' });
      const wrongMethod = await fetch(`http://127.0.0.1:${port}/garden/plants`);
      expect([wrongMethod.status, wrongMethod.headers.get('Allow')]).to.deep.equal([405, 'POST']);
    });

    it('leaves the routes of the app as they are', async () => {
      const json = { 'Content-Type': 'application/json' };
      expect(await post(port, '/notes', '{"id":1}', json)).to.include({ status: 200, body: '{"noted":{"id":1}}' });
      expect(await post(port, '/notes', '{', json)).to.include({ status: 400, body: 'Sorry: 400' });
    });

    it('describes itself as what stands under that path', async () => {
      const described = await fetch(`http://127.0.0.1:${port}/garden/openapi.json?again`);
      expect(await described.json()).to.deep.include({ servers: [{ url: '/garden' }] });
      const client = await RawClient.connect(port);
      const absolute = await client.send(request(`GET http://elsewhere.example/garden/openapi.json`)).answer();
      client.close();
      expect(absolute?.json()).to.deep.include({ servers: [{ url: '/garden' }] });
    });

    it('refuses before the body has come, and the answer arrives', async () => {
      const client = await RawClient.connect(port);
      client.send(request('POST /garden/plants', { 'Content-Length': '1000000' }, '{"id":'));
      const answer = await client.answer();
      expect(answer).to.deep.include({ status: 401 });
      expect(answer?.headers).to.include({ connection: 'close' });
      client.close();
    });

    it('serves a client that waits for 100 Continue, which comes twice', async () => {
      const client = await RawClient.connect(port);
      const body = '{"id":5,"name":"Aloe"}';
      client.send(
        request('POST /garden/plants', { ...AUTHORIZED, Expect: '100-continue', 'Content-Length': `${body.length}` }),
      );
      expect(await client.answer()).to.include({ status: 100 });
      expect(await client.answer()).to.include({ status: 100 });
      client.send(body);
      expect(await client.answer()).to.include({ status: 200, body: '{"name":"Aloe"}' });
      client.close();
    });

    it('serves others after a client has left in the middle of its body', async () => {
      const client = await RawClient.connect(port);
      client.send(request('POST /garden/plants', { ...AUTHORIZED, 'Content-Length': '100' }, '{"id":'));
      client.close();
      await client.ended();
      expect(await create('{"id":6,"name":"Aloe"}')).to.include({ status: 200 });
    });

    it('finishes what is under way when it is told to stop, refuses the rest, and closes its storage', async () => {
      const body = '{"id":7,"name":"Aloe"}';
      const admitted = await RawClient.connect(port);
      const headers = { ...AUTHORIZED, Expect: '100-continue', 'Content-Length': `${body.length}` };
      admitted.send(request('POST /garden/plants', headers));
      // The second one says that it is let in.
      await admitted.answer();
      await admitted.answer();
      const late = await RawClient.connect(port);
      late.send(request('POST /garden/plants', AUTHORIZED, '{"id":8,"name":"Aloe"}').subarray(0, 20));
      // What comes back from a later connection says that the earlier bytes were read.
      await post(port, '/notes', '{}', AUTHORIZED);
      program.kill('SIGTERM');
      while (await isListening(port));
      late.send(request('POST /garden/plants', AUTHORIZED, '{"id":8,"name":"Aloe"}').subarray(20));
      expect((await late.answer())?.json()).to.include({ error: 50303 });
      admitted.send(body);
      expect(await admitted.answer()).to.include({ status: 200 });
      for (const client of [late, admitted]) client.close();
      expect(await program.exited()).to.equal(0);
      const lines = await exported(folder, `sqlite:${join(place, 'plants.db')}`);
      expect(lines).to.include.members([`{"id":${EVEN},"name":"Ficus"}`, '{"id":7,"name":"Aloe"}']);
    });

    it('finds no body where it is mounted behind a body parser', async () => {
      const copy = copyOf('koa-mounted');
      const text = readFileSync(join(copy, 'app.js'), 'utf8');
      const parser = 'app.use(bodyParser());\n';
      expect(text).to.include(parser);
      writeFileSync(join(copy, 'app.js'), text.replace(parser, '').replace('app.use(mount', `${parser}app.use(mount`));
      const other = new Program(copy, [process.execPath, 'app.js'], { PORT: '0', ACCESS_TOKENS: TOKEN });
      const answer = await post(await other.port(), '/garden/plants', '{"id":1,"name":"Aloe"}', AUTHORIZED);
      expect(answer).to.deep.include(refused(400, 40001));
    });
  });

  describe('the service with a repository of one’s own', () => {
    endProgramsAfterAll();
    const databases = databasesOn(postgresServer);
    const TABLE = 'CREATE TABLE garden (number bigint PRIMARY KEY, label text NOT NULL, kind text)';

    it('keeps plants in that table', async () => {
      const url = await databases.create();
      const garden = databases.connect(url);
      await garden.raw(TABLE);
      const { program, port } = await start('own-repository', 'service.js', {
        GARDEN_URL: url,
        MANAGEMENT_PORT: 'off',
      });
      const create = (body: string) => post(port, '/plants', body, AUTHORIZED);
      expect(await create(`{"id":${ODD},"name":"Monstera","tag":"indoor"}`)).to.include({ status: 200 });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.include({ status: 200 });
      expect(await create(`{"id":${EVEN},"name":"Ficus"}`)).to.deep.include(refused(409, 40902));
      expect(await create(`{"id":${EVEN},"name":"Aloe"}`)).to.deep.include(refused(409, 40901));
      const { rows } = await garden.raw('SELECT * FROM garden ORDER BY number');
      expect(rows).to.deep.equal([
        { number: EVEN, label: 'Ficus', kind: null },
        { number: ODD, label: 'Monstera', kind: 'indoor' },
      ]);
      await garden.raw('DROP TABLE garden');
      expect(await create('{"id":3,"name":"Aloe"}')).to.deep.include(refused(503, 50301));
      expect(await program.kill('SIGTERM').exited()).to.equal(0);
    });

    it('which keeps the contract', async () => {
      const url = await databases.create();
      await databases.connect(url).raw(TABLE);
      const place = copyOf('own-repository');
      writeFileSync(join(place, 'contract.mjs'), CONTRACT);
      const run = new Program(place, [process.execPath, 'contract.mjs'], { GARDEN_URL: url });
      expect(await run.exited(), run.stderr).to.equal(0);
      expect(Number(run.stdout)).to.be.greaterThan(30);
    });
  });

  it('a use case in a unit test', async () => {
    const place = copyOf('use-case-test');
    const mocha = inRepository('node_modules/mocha/bin/mocha.js');
    const run = new Program(place, [process.execPath, mocha, '--no-config', 'create-plant.test.js'], {});
    expect(await run.exited(), run.stdout).to.equal(0);
    expect(run.stdout).to.include('1 passing');
  });

  describe('the guide to embedding', () => {
    const guide = readFileSync(inRepository('docs/embed.md'), 'utf8');
    const blocks = [...guide.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(([, language, code = '']) => ({
      language,
      code,
    }));

    it('has blocks of JavaScript alone, which are run here', () => {
      expect(blocks).to.have.lengthOf.at.least(4);
      expect(new Set(blocks.map(({ language }) => language))).to.deep.equal(new Set(['js']));
    });

    // The one for mocha is the example above; a test compares them.
    for (const [index, { code }] of blocks.filter(({ code }) => !code.includes("from 'mocha'")).entries()) {
      it(`says in block ${index + 1} what comes out`, async () => {
        const place = mkdtempSync(join(folder, 'guide-'));
        writeFileSync(join(place, 'block.mjs'), code);
        const run = new Program(place, [process.execPath, 'block.mjs'], {});
        expect(await run.exited(), run.stderr).to.equal(0);
        const said = [...code.matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(([, text]) => text);
        expect(said).to.have.lengthOf.at.least(1);
        expect(run.stdout.trimEnd().split('\n')).to.deep.equal(said);
      });
    }
  });
});

/** A runner of the contract, as short as they come: the table is emptied before each case. */
const CONTRACT = `
import pg from 'pg';
import { BatchingPlantRepository } from 'plant-store/adapters/batching';
import { plantRepositoryContract } from 'plant-store/contract';
import { GardenRepository } from './garden-repository.js';

const connectionString = process.env.GARDEN_URL;
const admin = new pg.Client({ connectionString });
await admin.connect();
const open = async () => {
  await admin.query('TRUNCATE garden');
  return new BatchingPlantRepository(new GardenRepository(new pg.Pool({ connectionString })), { writesMax: 4 });
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

function refused(status: number, error: number) {
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

/** What the store holds, as the command line of the package in `folder` exports it. */
async function exported(folder: string, databaseUrl: string): Promise<string[]> {
  const cli = join(folder, 'node_modules/plant-store/dist/composition/cli.js');
  const run = new Program(folder, [process.execPath, cli, 'export', '--database-url', databaseUrl], {});
  expect(await run.exited(), run.stderr).to.equal(0);
  return run.stdout.trimEnd().split('\n');
}
