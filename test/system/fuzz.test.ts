import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { undeclared } from '../adapters/driving/koa/description.js';
import { create, serve } from '../support/client.js';
import { sqliteStore } from '../support/engines.js';
import { RawClient, type RawResponse } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { type HostileRequest, hostileRequest, lastCreate, split, toBytes } from './hostile-requests.js';

import { memoryMib, testOrSoak } from './measure.js';

const REQUESTS = testOrSoak(20_000, 1_000_000);
const CLIENTS = 32;
const MAX_REQUESTS_PER_CONNECTION = 16;
const CONNECTIONS_PER_CHECK = 10;

/** The requests of a connection, and how they are split into packets, in thousandths of their length. */
const conversation = fc.record({
  requests: fc.array(hostileRequest, { minLength: 1, maxLength: MAX_REQUESTS_PER_CONNECTION - 1, size: 'max' }),
  // Usually a single packet.
  packetCuts: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.nat({ max: 1000 }), { maxLength: 8 }) },
  ),
});

interface Sent {
  readonly request: HostileRequest;
  readonly requestId: string;
  readonly plantId: bigint;
}

describe('The service under hostile requests', () => {
  const folder = temporaryFolder();

  it(`sends at most one response, declared and below 500, to each of ${REQUESTS.toLocaleString('en')} requests and executes no smuggled request`, async function () {
    this.timeout(testOrSoak(600_000, 3_600_000));
    const service = serve(folder, { DATABASE_URL: 'sqlite:fuzz.db', LOG_LEVEL: testOrSoak('info', 'error') });
    const port = await service.port();
    const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));
    let requests = 0;
    let memoryBefore = 0;
    /** Requests without a response: after malformed HTTP, after `Connection: close`, or because of a reset. */
    let unknown = 0;
    /** The number of 200 responses with each body. */
    const created = new Map<string, number>();

    const converse = async (hostile: readonly HostileRequest[], packetCuts: readonly number[]) => {
      const sent = [...hostile, lastCreate].map((request): Sent => {
        requests++;
        // Scattered, so that a damaged digit does not turn one id into another.
        const plantId = BigInt.asUintN(62, BigInt(requests) * 0x9e3779b97f4a7c15n);
        return { request, requestId: `fuzz-${requests}`, plantId };
      });
      const { responses, isReset } = await send(port, sent, packetCuts);
      for (const { status, body } of responses)
        if (status === 200 && !body.includes('"openapi"')) created.set(body, (created.get(body) ?? 0) + 1);
      unknown += sent.length - responses.length;
      expectOneResponseEach(sent, responses, isReset);
    };
    const property = fc.asyncProperty(conversation, ({ requests, packetCuts }) => converse(requests, packetCuts));
    let hasFailed = false;
    const work = async (client: number) => {
      for (let check = 0; requests < REQUESTS && !hasFailed; check++) {
        const options = { numRuns: CONNECTIONS_PER_CHECK, seed: seed + client + check * CLIENTS };
        await fc.assert(property, options).catch((error: unknown) => {
          hasFailed = true;
          throw error;
        });
        if (requests > REQUESTS / 10) memoryBefore ||= memoryMib(service);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));

    expect((await create(port, { id: 1n, name: 'Monstera' }))?.status, 'afterwards').to.equal(200);
    expect(memoryMib(service) - memoryBefore, 'MiB more memory than after a tenth of the requests').to.be.below(64);
    expect(await service.stop()).to.equal(0);
    // Exactly the acknowledged plants are stored.
    const stored = (await sqliteStore(join(folder, 'fuzz.db')).readPlants()).filter(({ id }) => id !== 1n);
    expect(stored.filter(({ name }) => name === 'smuggled')).to.deep.equal([]);
    for (const { id: _, ...texts } of stored) {
      const body = JSON.stringify(texts);
      created.set(body, (created.get(body) ?? 0) - 1);
    }
    const differences = [...created].filter(([, difference]) => difference !== 0);
    expect(
      differences.filter(([, difference]) => difference > 0),
      'acknowledged but not stored',
    ).to.deep.equal([]);
    expect(differences.length, 'stored without a response').to.be.at.most(unknown);
  });
});

/** Sends requests over a new connection, in packets, and reads the responses until the connection ends. */
async function send(port: number, sent: readonly Sent[], packetCuts: readonly number[]) {
  const bytes = Buffer.concat(sent.map(({ request, requestId, plantId }) => toBytes(request, requestId, plantId)));
  const client = await RawClient.connect(port);
  let hasError = false;
  client.socket.on('error', () => {
    hasError = true;
  });
  for (const packet of split(bytes, packetCuts)) {
    client.send(packet);
    await new Promise(setImmediate);
  }
  const responses = (await client.readAllResponses()).filter(({ status }) => status !== 100);
  return { responses, isReset: hasError && packetCuts.length > 0 };
}

/** Expects each response to match the request at the same index, and no response after one that closes the connection. */
function expectOneResponseEach(sent: readonly Sent[], responses: readonly RawResponse[], isReset: boolean): void {
  for (const [index, response] of responses.entries()) {
    const { request, requestId } = sent[index] ?? {};
    if (request === undefined) throw new Error(`unexpected response: ${response.status} ${response.body}`);
    const { connection, 'x-request-id': id = '', 'content-type': type } = response.headers;
    const isClosing = connection === 'close';
    const context = `${response.status} ${response.body} to ${JSON.stringify(request)}`;
    expect(response.status, context).to.be.within(200, 499);
    // The parser rejected the request.
    if (id !== requestId) expect(isClosing && /^(?!fuzz-|smuggled)/.test(id), context).to.equal(true);
    if (request.malformed) expect([response.status, isClosing], context).to.deep.equal([400, true]);
    if (request === lastCreate) expect(response.status, context).to.equal(200);
    if (request.method === 'POST' && /^\/plants(\?|$)/.test(request.target)) {
      expect(undeclared(response), context).to.deep.equal([]);
    } else if (response.status === 302) {
      // The redirect from / to the documentation page.
      expect(request.target, context).to.match(/^(http:\/\/[^/?]*)?\/?(\?|$)/);
    } else {
      expect(type, context).to.equal('application/json');
      if (response.status !== 200) expect(response.json(), context).to.have.all.keys('error', 'message');
    }
    if (isClosing) expect(index, `${context} is the last response`).to.equal(responses.length - 1);
  }
  if (!isReset) expect(responses, 'responses').to.not.be.empty;
}
