import { cpSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { before, beforeEach, describe, it } from 'mocha';
import { httpContract } from '../contract/http/index.js';
import { plantRepositoryContract } from '../contract/index.js';
import { expectContractButForListed } from '../examples/http-contract.js';
import { databasesOn, postgresServer } from '../support/database-servers.js';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { exchange, RawClient, request } from '../support/raw-http.js';
import { runContract } from '../support/run-contract.js';
import { installPackage, skipUnlessExists } from './interop.js';

/** 2^53 + 1, which no JavaScript number can represent, and 2^53, to which it is rounded. */
const ODD = '9007199254740993';
const EVEN = '9007199254740992';

/** Creates, in this order, and their outcomes in every example: the plant in the response, or the number of the error. */
const CREATES: readonly (readonly [body: string, outcome: string | number])[] = [
  [`{"id":${ODD},"name":"Monstera","tag":"indoor"}`, '{"name":"Monstera","tag":"indoor"}'],
  [`{"id":${EVEN},"name":"Ficus"}`, '{"name":"Ficus"}'],
  [`{"id":${EVEN},"name":"Ficus"}`, 40902],
  [`{"id":${EVEN},"name":"Aloe"}`, 40901],
  ['{"id":9223372036854775808,"name":"Aloe"}', 40002],
  ['{"id":7,"name":"\\u0000"}', 40003],
  ['{"id":7,', 40001],
];

/** The plants that {@link CREATES} store, as `export` prints them. */
const STORED = [`{"id":${EVEN},"name":"Ficus"}`, `{"id":${ODD},"name":"Monstera","tag":"indoor"}`];

const TOKEN = 'example-token-0123';
const HEADERS = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
const TOO_LARGE = `{"id":3,"name":"${'x'.repeat(1024)}"}`;
const SETTINGS = { PORT: '0', ACCESS_TOKENS: TOKEN, LOG_LEVEL: 'warn', BODY_LIMIT: '1kb' };
const ALOE = '{"id":9,"name":"Aloe"}';
const NATS_SERVER = '/usr/sbin/nats-server';

describe('Installed from the tarball,', () => {
  let folder: string;
  /** A copy of the example under test, in which the package resolves. */
  let copy: string;
  let program: Program;
  let port: number;
  before(() => {
    folder = installPackage();
  });

  function copyExample(example: string): void {
    copy = mkdtempSync(join(folder, `${example}-`));
    cpSync(inRepository(`docs/examples/${example}`), copy, { recursive: true });
  }

  const start = (file: string, environment: Readonly<Record<string, string>> = {}, ...args: readonly string[]) =>
    new Program(copy, [process.execPath, file, ...args], environment);

  /** Runs a program to its end, and returns its standard output. */
  async function outputOf(program: Program, input?: string | Buffer): Promise<string> {
    if (input !== undefined) program.process.stdin?.end(input);
    expect(await program.exited(), program.stderr).to.equal(0);
    return program.stdout;
  }

  /** Returns the path of the installed executable. */
  const cli = () => join(folder, 'node_modules/plant-store/dist/composition/cli/main.js');

  /** Exports the plants of the example. */
  async function exportPlants(): Promise<string[]> {
    const exported = start(cli(), {}, 'export', '--database-url', 'sqlite:plants.db');
    return (await outputOf(exported)).trimEnd().split('\n');
  }

  /** Runs the commands in the README of the example, except those in the background, and compares their output. */
  async function expectReadmeToHold(environment: Readonly<Record<string, string>>): Promise<void> {
    const text = readFileSync(join(copy, 'README.md'), 'utf8');
    const commands = [...text.matchAll(/^\$ (.*[^&\n])\n((?:[^$`].*\n)*)/gm)];
    expect(commands).to.have.lengthOf(2);
    for (const [, command = '', output] of commands)
      expect(await outputOf(new Program(copy, ['sh', '-c', command], environment))).to.equal(output);
  }

  /** Sends a create over HTTP. */
  async function post(url: string, body: string): Promise<string | number> {
    const response = await fetch(url, { method: 'POST', headers: HEADERS, body });
    const text = await response.text();
    if (response.status === 200) return text;
    const { error } = JSON.parse(text);
    expect(Math.trunc(error / 100)).to.equal(response.status);
    return error;
  }

  /** Sends all creates over HTTP. */
  async function expectOutcomes(url: string): Promise<void> {
    for (const [body, outcome] of CREATES) expect(await post(url, body), body).to.equal(outcome);
    expect(await post(url, TOO_LARGE)).to.equal(41301);
  }

  /** Tests an example with an HTTP API under `path`, and what it states in addition. */
  function testHttp(example: string, path: string, serve: () => Program, testMore: () => void): void {
    before(async () => {
      copyExample(example);
      program = serve();
      port = await program.port();
    });

    it('gives each plant its outcome, with exact ids', () => expectOutcomes(`http://127.0.0.1:${port}${path}/plants`));

    it('does not affect the parser or the errors of other routes', async () => {
      const notes = `http://127.0.0.1:${port}/notes`;
      expect(await post(notes, '{"id":9007199254740993}')).to.equal('{"noted":{"id":9007199254740992}}');
      const invalid = await fetch(notes, { method: 'POST', headers: HEADERS, body: '{"id":' });
      expect(invalid.status).to.equal(400);
      expect(await invalid.text()).to.not.include('40001');
    });

    testMore();

    it('closes its storage on SIGTERM and leaves its plants in the file', async () => {
      expect(await program.stop()).to.equal(0);
      expect(await exportPlants()).to.include.members(STORED);
    });
  }

  describe('the service with Fastify', () => {
    const serve = (settings: Readonly<Record<string, string>> = SETTINGS) =>
      start(cli(), { ...settings, PLUGINS: './plugin.js' }, 'serve');
    testHttp('fastify', '', serve, () => {
      it('meets the HTTP contract, except for the cases that its README lists', async () => {
        const own = serve({ PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL: 'memory:', LOG_LEVEL: 'warn' });
        const target = { baseUrl: `http://127.0.0.1:${await own.port()}`, token: TOKEN };
        await expectContractButForListed('fastify', target);
      });
    });
  });

  describe('the HTTP API mounted in a Koa app', () => {
    const serve = () => start('app.js', SETTINGS);
    testHttp('koa-mounted', '/garden', serve, () => {
      for (const { name, run } of httpContract.filter(({ group }) => group === 'specification'))
        it(`specification: ${name}`, () => run({ baseUrl: `http://127.0.0.1:${port}/garden`, token: TOKEN }));

      for (const [target, status, body] of [
        ['POST /garden', 404, '"error":40401'],
        ['POST /garden/', 404, '"error":40401'],
        ['POST /garden/nothing', 404, '"error":40401'],
        ['POST /garden/plants/', 404, '"error":40401'],
        ['GET /garden/plants', 405, '"error":40501'],
        ['POST /plants', 404, 'Sorry: 404'],
        ['POST /gardens/plants', 404, 'Sorry: 404'],
        ['GET /garden/openapi.json?again', 200, '"servers":[{"url":"/garden"}]'],
        ['GET http://elsewhere.example/garden/openapi.json', 200, '"servers":[{"url":"/garden"}]'],
      ] as const) {
        it(`responds to ${target} with ${status} and ${body}`, async () => {
          const response = await exchange(port, request(target));
          expect([response?.status, response?.body.includes(body)]).to.deep.equal([status, true]);
        });
      }

      it('finds no body if a body parser runs first', async () => {
        const parser = 'app.use(bodyParser());\n';
        const text = readFileSync(join(copy, 'app.js'), 'utf8').replace(parser, '');
        writeFileSync(join(copy, 'edited.js'), text.replace('app.use(mount', `${parser}app.use(mount`));
        const edited = start('edited.js', { ...SETTINGS, DATABASE_URL: 'memory:' });
        expect(await post(`http://127.0.0.1:${await edited.port()}/garden/plants`, ALOE)).to.equal(40001);
      });

      it('sends 100 Continue twice, and completes an admitted request after SIGTERM', async () => {
        const client = await RawClient.connect(port);
        const expecting = { ...HEADERS, Expect: '100-continue', 'Content-Length': `${ALOE.length}` };
        client.send(request('POST /garden/plants', expecting));
        // Node sends the first one. The second one means that the request is admitted.
        for (let count = 0; count < 2; count++) expect(await client.readResponse()).to.include({ status: 100 });
        const idle = await RawClient.connect(port);
        await idle.send(request('POST /notes', HEADERS, '{}')).readResponse();
        program.kill('SIGTERM');
        // The server closes idle connections when it stops.
        await idle.ended();
        expect((await client.send(ALOE).readResponse())?.json()).to.deep.equal({ name: 'Aloe' });
        client.close();
        await program.exited();
      });
    });
  });

  describe('the core behind a queue', () => {
    beforeEach(() => copyExample('queue-worker'));
    const work = async (jobs: string | Buffer) => {
      const results = (await outputOf(start('worker.js'), jobs)).trimEnd().split('\n');
      return results.map((line) => JSON.parse(line)).sort((a, b) => a.job - b.job);
    };

    it('gives each job the outcome of its plant', async () => {
      const lines = [...CREATES.map(([body]) => body), '', '{"id":7,"name":"\xff"}'];
      const results = await work(Buffer.from(lines.join('\n'), 'latin1'));
      const expected = [...CREATES, ['', 40001], ['not UTF-8', 40001]].map(([, outcome], index) => ({
        job: index + 1,
        state: typeof outcome === 'string' || outcome === 40902 ? 'accepted' : 'rejected',
        ...(typeof outcome === 'string' ? {} : { error: outcome }),
      }));
      expect(results.map(({ message, ...result }) => result)).to.deep.equal(expected);
      expect(await exportPlants()).to.deep.equal(STORED);
    });

    it('reports 40902 for jobs that it settled before it was killed', async () => {
      const jobs = Array.from({ length: 3000 }, (_, index) => `{"id":${index},"name":"Monstera"}\n`);
      const killed = start('worker.js').type(jobs.join(''));
      await killed.waitForOutput(/"job":99,/);
      await killed.kill('SIGKILL').exited();
      const acknowledged = [...killed.stdout.matchAll(/"job":(\d+),"state":"accepted"}\n/g)];
      expect(acknowledged).to.have.lengthOf.within(1, jobs.length);
      const results = await work(jobs.join(''));
      expect(results.filter(({ state }) => state === 'accepted')).to.have.lengthOf(jobs.length);
      const errors = acknowledged.map(([, job]) => results[Number(job) - 1].error);
      expect(new Set(errors)).to.deep.equal(new Set([40902]));
    });

    it('does what its README shows', () => expectReadmeToHold({}));
  });

  describe('the core behind NATS', () => {
    let environment: { readonly NATS_URL: string };
    before(async function () {
      skipUnlessExists(this, NATS_SERVER);
      copyExample('nats');
      const server = new Program(copy, [NATS_SERVER, '--addr', '127.0.0.1', '--port', '-1'], {});
      const [, serverPort] = await server.waitForOutput(/client connections on 127\.0\.0\.1:(\d+)/);
      await server.waitForOutput(/Server is ready/);
      environment = { NATS_URL: `127.0.0.1:${serverPort}` };
      program = await startService();
    });

    const startService = async () => {
      const service = start('service.js', environment);
      await service.waitForOutput(/^listens on/m);
      return service;
    };
    const send = async (...bodies: readonly string[]) => {
      const responses = (await outputOf(start('client.js', environment, ...bodies))).trimEnd().split('\n');
      return responses.map((text) => JSON.parse(text).error ?? text);
    };

    it('does what its README shows', () => expectReadmeToHold(environment));

    it('gives each plant its outcome', async () => {
      // The README has stored the first plant.
      const others = CREATES.slice(1);
      expect(await send(...others.map(([body]) => body))).to.deep.equal(others.map(([, outcome]) => outcome));
    });

    it('exits on SIGTERM and leaves its plants in the file; another instance continues', async () => {
      const other = await startService();
      expect(await program.stop(), program.stderr).to.equal(0);
      expect(await send(ALOE)).to.deep.equal(['{"name":"Aloe"}']);
      expect(await other.stop(), other.stderr).to.equal(0);
      expect(await exportPlants()).to.include.members([ALOE, `${STORED[0]}`]);
    });
  });

  describe('the service with a custom repository', () => {
    const databases = databasesOn(postgresServer);
    let garden: ReturnType<typeof databases.connect>;
    let url: string;
    before(async () => {
      url = await databases.create();
      garden = databases.connect(url);
      await garden.raw('CREATE TABLE garden (number bigint PRIMARY KEY, label text NOT NULL, kind text)');
      copyExample('own-repository');
    });

    runContract(
      plantRepositoryContract({
        open: async () => {
          const { GardenRepository } = await import(inRepository('docs/examples/own-repository/garden.js'));
          const { default: pg } = await import('pg' as string);
          await garden.raw('TRUNCATE garden');
          return new GardenRepository(new pg.Pool({ connectionString: url }));
        },
      }),
    );

    it('stores plants in its table', async () => {
      const environment = { ...SETTINGS, DATABASE_URL: url.replace(/^\w+/, 'garden'), PLUGINS: './garden.js' };
      program = start(cli(), environment, 'serve');
      const plants = `http://127.0.0.1:${await program.port()}/plants`;
      await garden.raw('TRUNCATE garden');
      await expectOutcomes(plants);
      const { rows } = await garden.raw('SELECT * FROM garden ORDER BY number');
      expect(rows).to.deep.equal([
        { number: EVEN, label: 'Ficus', kind: null },
        { number: ODD, label: 'Monstera', kind: 'indoor' },
      ]);

      await garden.raw('DROP TABLE garden');
      expect(await post(plants, ALOE)).to.equal(50301);
      expect(await program.stop()).to.equal(0);
    });
  });
});
