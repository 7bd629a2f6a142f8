import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { undeclared } from '../adapters/driving/koa/description.js';
import { create, serve } from '../support/client.js';
import { memoryMib } from '../support/process-resources.js';
import { RawClient, type RawResponse } from '../support/raw-http.js';
import { testOrSoak } from '../support/soak.js';
import { readSqlitePlants } from '../support/sqlite-file.js';
import { temporaryFolder } from '../support/temporary.js';
import { type HostileRequest, hostileRequest, lastCreate, toBytes } from './hostile-requests.js';

const REQUESTS = testOrSoak(20_000, 1_000_000);
const CLIENTS = 32;
const MAX_REQUESTS_PER_CONNECTION = 16;
const CONNECTIONS_PER_CHECK = 10;

/** The requests of a connection and how they are split into packets. */
const conversation = fc.record({
  requests: fc.array(hostileRequest, { minLength: 1, maxLength: MAX_REQUESTS_PER_CONNECTION - 1, size: 'max' }),
  // Usually a single packet.
  packetCuts: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.nat({ max: 1000 }), { maxLength: 8 }) },
  ),
});

describe('The service under hostile requests', () => {
  const folder = temporaryFolder();

  it(`sends at most one response, declared and below 500, to each of ${REQUESTS.toLocaleString('en')} requests and executes no smuggled request`, async function () {
    this.timeout(testOrSoak(600_000, 3_600_000));
    const service = serve(folder, { DATABASE_URL: 'sqlite:fuzz.db', LOG_LEVEL: testOrSoak('info', 'error') });
    const port = await service.port();
    const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));
    let sent = 0;
    /** Ids of plants that must not be stored, because their requests have no response. */
    const unexecuted = new Set<bigint>();
    /** Bodies of 200 responses. */
    const created: string[] = [];
    let memoryBefore = 0;

    /** Number of requests without a response on connections that were reset; a reset can lose responses. */
    let unknown = 0;
    const converse = async (requests: readonly HostileRequest[], packetCuts: readonly number[]) => {
      const all = [...requests, lastCreate].map((request) => ({
        request,
        requestId: `fuzz-${++sent}`,
        plantId: toPlantId(sent),
      }));
      const bytes = Buffer.concat(all.map(({ request, requestId, plantId }) => toBytes(request, requestId, plantId)));
      const client = await RawClient.connect(port, { isRecorded: false });
      let isReset = false;
      client.socket.on('error', () => {
        isReset = true;
      });
      await sendInPackets(client, bytes, packetCuts);
      const responses = (await client.readAllResponses()).filter(({ status }) => status !== 100);
      created.push(
        ...responses
          .filter(({ status, body }) => status === 200 && !body.includes('"openapi"'))
          .map(({ body }) => body),
      );
      const isTruncated = isReset && packetCuts.length > 0;
      const rest = all.slice(responses.length);
      if (isTruncated) unknown += rest.length;
      else for (const { plantId } of rest) unexecuted.add(plantId);
      expectOneResponseEach(all, responses, isTruncated);
    };
    let hasFailed = false;
    const work = async (client: number) => {
      for (let check = 0; sent < REQUESTS && !hasFailed; check++) {
        const options = { numRuns: CONNECTIONS_PER_CHECK, seed: seed + client + check * CLIENTS };
        const property = fc.asyncProperty(conversation, ({ requests, packetCuts }) => converse(requests, packetCuts));
        await fc.assert(property, options).catch((error: unknown) => {
          hasFailed = true;
          throw error;
        });
        if (sent > REQUESTS / 10) memoryBefore ||= memoryMib(service);
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, (_, client) => work(client)));

    expect((await create(port, { id: 1n, name: 'Monstera' }))?.status, 'afterwards').to.equal(200);
    expect(memoryMib(service) - memoryBefore, 'MiB more memory than after a tenth of the requests').to.be.below(64);
    expect(await service.stop()).to.equal(0);
    // Exactly the acknowledged plants are stored.
    const stored = (await readSqlitePlants(join(folder, 'fuzz.db'))).filter(({ id }) => id !== 1n);
    const unexpected = multisetDifference(
      stored.map(({ id: _, ...texts }) => JSON.stringify(texts)),
      created,
    );
    expect(unexpected.length, 'plants stored without a response').to.be.at.most(unknown);
    expect(stored.length - unexpected.length, 'plants stored and acknowledged').to.equal(created.length);
    expect(stored.filter(({ id, name }) => unexecuted.has(id) || name === 'smuggled')).to.deep.equal([]);
  });
});

/** Converts an index to an id; scatters ids, so that a damaged digit does not turn one into another. */
function toPlantId(index: number): bigint {
  return BigInt.asUintN(62, BigInt(index) * 0x9e3779b97f4a7c15n);
}

/** Removes one occurrence of each of `others` from `values`. */
function multisetDifference(values: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const other of others) counts.set(other, (counts.get(other) ?? 0) + 1);
  return values.filter((value) => {
    const count = counts.get(value) ?? 0;
    counts.set(value, count - 1);
    return count <= 0;
  });
}

/** Expects each response to match the request at the same index, and the last response to close the connection. */
function expectOneResponseEach(
  sent: readonly { readonly request: HostileRequest; readonly requestId: string }[],
  responses: readonly RawResponse[],
  isTruncated: boolean,
): void {
  for (const [index, response] of responses.entries()) {
    const { request, requestId } = sent[index] ?? {};
    if (request === undefined) throw new Error(`unexpected response: ${response.status} ${response.body}`);
    const isClosing = response.headers['connection'] === 'close';
    const context = `${response.status} ${response.body} to ${JSON.stringify(request)}`;
    expect(response.status, context).to.be.within(200, 499);
    if (response.headers['x-request-id'] !== requestId) {
      // The parser rejected the request.
      expect([response.headers['x-request-id'], isClosing], context).to.satisfy(
        ([id, closing]: [string, boolean]) => closing && !id.startsWith('fuzz-') && id !== 'smuggled',
      );
    }
    if (request.ambiguity) expect([response.status, isClosing], context).to.deep.equal([400, true]);
    if (request === lastCreate) expect(response.status, context).to.equal(200);
    if (request.method === 'POST' && /^\/plants(\?|$)/.test(request.target)) {
      expect(undeclared(response), context).to.deep.equal([]);
    } else if (response.status === 302) {
      // The redirect from / to the documentation page.
      expect(request.target, context).to.match(/^(http:\/\/[^/?]*)?\/?(\?|$)/);
    } else {
      expect(response.headers['content-type'], context).to.equal('application/json');
      if (response.status !== 200) expect(response.json(), context).to.have.all.keys('error', 'message');
    }
    if (isClosing || (index === responses.length - 1 && !isTruncated)) {
      expect(isClosing, `${context} is the last response and closes the connection`).to.equal(true);
      expect(responses.length, `responses after ${context}`).to.equal(index + 1);
    }
  }
  if (!isTruncated) expect(responses, 'responses').to.not.be.empty;
}

async function sendInPackets(client: RawClient, bytes: Buffer, cuts: readonly number[]): Promise<void> {
  client.socket.setNoDelay(true);
  let begin = 0;
  for (const cut of cuts.toSorted((a, b) => a - b)) {
    const end = Math.floor((cut * bytes.length) / 1000);
    if (end > begin) client.send(bytes.subarray(begin, end));
    begin = end;
    await new Promise(setImmediate);
  }
  client.send(bytes.subarray(begin));
}
