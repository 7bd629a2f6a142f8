import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { apiErrors } from '../../adapters/driving/api/index.js';
import { operations } from '../adapters/driving/koa/description.js';
import { catchError } from '../support/catch-error.js';
import { codeBlocks, section } from '../support/guide.js';
import { portOf } from '../support/port.js';
import { readPlants } from '../support/read-plants.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';

const GUIDE = 'docs/http-api.md';
const text = section(GUIDE, 'HTTP API');

describe(GUIDE, () => {
  it('has every error number of the code, and no other', () => {
    const rows = section(GUIDE, 'Errors').matchAll(/^\| (\d{5}) \| [^|]{10,} \| [^|]{5,} \|$/gm);
    const numbers = Object.values(apiErrors).map(({ error }) => error);
    expect([...rows].map(([, error]) => Number(error))).to.deep.equal(numbers);
    const named = [...text.matchAll(/\b[1-5]\d{4}\b/g)].map(([error]) => Number(error));
    expect(numbers).to.include.members(named);
  });

  it('has every header that the description declares', () => {
    const responses = Object.values(operations).flatMap((operation) => Object.values(operation.responses));
    const names = responses.flatMap(({ headers }) => Object.keys(headers ?? {}));
    const rows = [...section(GUIDE, 'Headers').matchAll(/^\| `([\w-]+)/gm)].map(([, name]) => name);
    expect(rows).to.include.members(names);
  });
});

describe(`The retry loop in ${GUIDE}`, () => {
  const folder = temporaryFolder();
  const plant = { id: 9007199254740993n, name: 'Monstera', tag: 'indoor' };
  let createPlant: (baseUrl: string, token: string, newPlant: object) => Promise<void>;
  let service: TestService;
  let url: string;
  before(async () => {
    const code = codeBlocks(section(GUIDE, 'Retries')).find(({ language }) => language === 'js');
    writeFileSync(join(folder, 'create-plant.mjs'), code?.text ?? '');
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
      const chunks = await req.setEncoding('utf8').toArray();
      bodies.push(chunks.join(''));
      if (bodies.length === 1) req.socket.destroy();
      else if (bodies.length === 2) res.writeHead(503, { 'Retry-After': '0.001' }).end('busy');
      else res.writeHead(409).end('{"error":40902}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    await createPlant(`http://127.0.0.1:${portOf(server)}`, TOKEN, plant);
    expect(bodies).to.deep.equal(Array(3).fill('{"id":9007199254740993,"name":"Monstera","tag":"indoor"}'));
    server.closeAllConnections();
    server.close();
  });
});
