import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { create, serve } from '../support/client.js';
import { undeclared } from '../support/description.js';
import { sqliteStore } from '../support/engines.js';
import { RawClient, type RawResponse } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { type HostileRequest, hostileRequest, lastCreate, toBytes } from './hostile-requests.js';

const CLIENTS = 32;
/** Connections of each client, with nine requests on average. */
const CONNECTIONS = 80;

/** The requests of a connection before {@link lastCreate}: one less than the maximum without a response. */
const hostileRequests = fc.array(hostileRequest, { minLength: 1, maxLength: 15, size: 'max' });

describe('The service under hostile requests', () => {
  const folder = temporaryFolder();

  it('sends at most one response, declared and below 500, to each request, and executes no smuggled request', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:fuzz.db', LOG_LEVEL: 'info' });
    const port = await service.port();
    let lastId = 2n ** 40n;
    /** Requests without a response: after malformed HTTP, after `Connection: close`, or because of a reset. */
    let unknown = 0;
    /** The number of 200 responses with each body. */
    const created = new Map<string, number>();
    const count = (body: string, change: number) => created.set(body, (created.get(body) ?? 0) + change);

    const property = fc.asyncProperty(hostileRequests, async (hostile) => {
      const sent = [...hostile, lastCreate];
      const firstId = lastId + 1n;
      const bytes = Buffer.concat(sent.map((request) => toBytes(request, ++lastId)));
      const client = (await RawClient.connect(port)).send(bytes);
      const responses = (await client.readAllResponses()).filter(({ status }) => status !== 100);
      expect(responses, 'responses').to.not.be.empty;
      for (const [index, response] of responses.entries()) {
        const isLast = index === responses.length - 1;
        expectResponse(sent[index], response, `fuzz-${firstId + BigInt(index)}`, isLast);
        if (response.status === 200 && !response.body.includes('"openapi"')) count(response.body, 1);
      }
      unknown += sent.length - responses.length;
    });
    const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));
    const run = (numRuns: number, seed: number) =>
      Promise.all(
        Array.from({ length: CLIENTS }, (_, client) => fc.assert(property, { numRuns, seed: seed + client })),
      );
    await run(CONNECTIONS / 10, seed);
    const memoryBefore = service.memoryMib();
    await run(CONNECTIONS, seed + CLIENTS);

    expect(service.memoryMib() - memoryBefore, 'MiB more memory than after a tenth of the requests').to.be.below(64);
    const last = { id: -(2n ** 62n), name: 'last' };
    expect((await create(port, last))?.status, 'afterwards').to.equal(200);
    expect(await service.stop()).to.equal(0);
    // Exactly the acknowledged plants are stored.
    const stored = (await sqliteStore(join(folder, 'fuzz.db')).readPlants()).filter(({ id }) => id !== last.id);
    expect(stored.filter(({ name }) => name === 'smuggled')).to.deep.equal([]);
    for (const { id: _, ...texts } of stored) count(JSON.stringify(texts), -1);
    const differences = [...created.values()].filter((difference) => difference !== 0);
    expect(Math.max(0, ...differences), 'acknowledged but not stored').to.equal(0);
    expect(differences.length, 'stored without a response').to.be.at.most(unknown);
  });
});

/** Expects a response to match the request at the same index, and to be the last one if it closes the connection. */
function expectResponse(
  request: HostileRequest | undefined,
  response: RawResponse,
  requestId: string,
  isLast: boolean,
): void {
  const context = `${response.status} ${response.body} to ${JSON.stringify(request)}`;
  if (request === undefined) throw new Error(`unexpected response: ${context}`);
  const { connection, 'x-request-id': id = '', 'content-type': type } = response.headers;
  const isClosing = connection === 'close';
  expect(response.status, context).to.be.within(200, 499);
  // The parser rejected the request.
  if (id !== requestId) expect(isClosing && /^(?!fuzz-|smuggled)/.test(id), context).to.equal(true);
  if (request.malformed) expect([response.status, isClosing], context).to.deep.equal([400, true]);
  if (request === lastCreate) expect(response.status, context).to.equal(200);
  if (isClosing) expect(isLast, `${context} is the last response`).to.equal(true);
  if (/^POST \/plants[? ]/.test(request.line)) {
    expect(undeclared(response), context).to.deep.equal([]);
  } else if (response.status === 302) {
    // The redirect from / to the documentation page.
    expect(request.line, context).to.match(/^\w+ \/[? ]/);
  } else {
    expect(type, context).to.equal('application/json');
    if (response.status !== 200) expect(response.json(), context).to.have.all.keys('error', 'message');
  }
}
