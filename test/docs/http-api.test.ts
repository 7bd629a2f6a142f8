import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { apiErrors } from '../../adapters/driving/api/index.js';
import { httpContract } from '../contract/http/index.js';
import { catchError } from '../support/catch-error.js';
import { codeBlocks, section } from '../support/guide.js';
import { inRepository } from '../support/paths.js';
import { portOf } from '../support/port.js';
import { readPlants } from '../support/read-plants.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

const GUIDE = 'docs/http-api.md';

describe(GUIDE, () => {
  it('has every error number of the code, and no other', () => {
    const rows = section(GUIDE, 'Errors').matchAll(/^\| (\d{5}) \|/gm);
    const numbers = Object.values(apiErrors).map(({ error }) => error);
    expect([...rows].map(([, error]) => Number(error))).to.deep.equal(numbers);
    const named = [...section(GUIDE, 'HTTP API').matchAll(/\b[1-5]\d{4}\b/g)].map(([error]) => Number(error));
    expect(numbers).to.include.members(named);
  });
});

describe(`The code in ${GUIDE}`, () => {
  const folder = temporaryFolder();
  const plant = { id: 9007199254740993n, name: 'Monstera', tag: 'indoor' };
  let createPlant: (baseUrl: string, token: string, newPlant: object) => Promise<void>;
  let service: TestService;
  let url: string;
  before(async () => {
    for (const [heading, file] of [
      ['Retries', 'create-plant.mjs'],
      ['Test your own implementation', 'contract.test.mjs'],
    ] as const) {
      const code = codeBlocks(section(GUIDE, heading)).find(({ language }) => language === 'js');
      writeFileSync(join(folder, file), code?.text ?? '');
    }
    mkdirSync(join(folder, 'node_modules'));
    symlinkSync(inRepository(''), join(folder, 'node_modules/plant-store'));
    ({ createPlant } = await import(join(folder, 'create-plant.mjs')));
    service = await startService();
    url = `http://127.0.0.1:${service.port}`;
  });
  after(() => service.stop());

  it('stores a plant once, with its exact id', async () => {
    await createPlant(url, TOKEN, plant);
    await createPlant(url, TOKEN, plant);
    const plants = await readPlants(service.repository.readAll());
    expect(plants.map(({ id, name, tag }) => ({ id, name, tag }))).to.deep.equal([plant]);
  });

  it('does not repeat a rejected request', async () => {
    const message = 'id belongs to a different plant';
    await createPlant(url, TOKEN, { id: 1n, name: 'Monstera' });
    expect(await catchError(createPlant(url, TOKEN, { id: 1n, name: 'Ficus' }))).to.have.property('message', message);
  });

  it('repeats a request without a response, and one that gets a 503', async () => {
    const bodies: string[] = [];
    const server = createServer(async (req, res) => {
      bodies.push(await text(req));
      if (bodies.length === 1) req.socket.destroy();
      else if (bodies.length === 2) res.writeHead(503, { 'Retry-After': '0.001' }).end('busy');
      else res.writeHead(409).end('{"error":40902}');
    });
    await once(server.listen(0, '127.0.0.1'), 'listening');
    await createPlant(`http://127.0.0.1:${portOf(server)}`, TOKEN, plant);
    expect(bodies).to.deep.equal(Array(3).fill('{"id":9007199254740993,"name":"Monstera","tag":"indoor"}'));
    server.closeAllConnections();
    server.close();
  });

  it('runs the contract under node:test, which passes for this service', async () => {
    // With this variable, node:test would report to a parent run.
    const { NODE_TEST_CONTEXT: _, ...environment } = process.env;
    const env = { ...environment, BASE_URL: url, TOKEN };
    const args = ['--test', '--test-reporter=tap', '--test-name-pattern=^specification', 'contract.test.mjs'];
    // Rejects if a test fails.
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: folder, env });
    const names = [...stdout.matchAll(/^ok \d+ - (specification: .*?)(?: # .*)?$/gm)].map(([, name]) => name);
    const expected = httpContract.filter(({ group }) => group === 'specification');
    expect(names).to.deep.equal(expected.map(({ group, name }) => `${group}: ${name}`));
  });
});
