import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { undeclared } from '../adapters/koa/description.js';
import { endProgramsAfterEach } from '../support/executable.js';
import { type RawAnswer, RawClient } from '../support/raw-http.js';
import { sized } from '../support/size.js';
import { temporaryFolder } from '../support/temporary.js';
import { create, serve } from './client.js';
import { bytesOf, type HostileRequest, hostileRequest, lastCreate } from './hostile-requests.js';
import { memoryMib } from './resources.js';
import { plantsIn } from './sqlite-file.js';

const REQUESTS = sized(20_000, 1_000_000);
const CLIENTS = 32;
const REQUESTS_PER_CONNECTION_MAX = 16;
const CONNECTIONS_PER_CHECK = 10;

/** How a request on a connection is sent, and in how many packets. */
const conversation = fc.record({
  requests: fc.array(hostileRequest, { minLength: 1, maxLength: REQUESTS_PER_CONNECTION_MAX - 1, size: 'max' }),
  // Mostly everything comes at once.
  packetCuts: fc.oneof(
    { weight: 4, arbitrary: fc.constant([]) },
    { weight: 1, arbitrary: fc.array(fc.nat({ max: 1000 }), { maxLength: 8 }) },
  ),
});

describe('Whatever a client sends', () => {
  endProgramsAfterEach();
  const folder = temporaryFolder();

  it(`has one answer to each of ${REQUESTS.toLocaleString('en')} requests, none a failure, all declared, and no request in a request`, async function () {
    this.timeout(sized(60_000, 3_600_000));
    const service = serve(folder, { DATABASE_URL: 'sqlite:fuzz.db', LOG_LEVEL: sized('info', 'error') });
    const port = await service.port();
    const seed = Number(process.env['SEED'] ?? randomInt(2 ** 31));
    let sent = 0;
    /** Plants of requests that have no answer, and so must not be stored. */
    const unexecuted = new Set<bigint>();
    /** What was answered with 200. */
    const created: string[] = [];
    let memoryBefore = 0;

    /** Requests without an answer on connections that were reset: of what comes in a later packet the answer may be lost. */
    let unanswered = 0;
    const converse = async (requests: readonly HostileRequest[], packetCuts: readonly number[]) => {
      const all = [...requests, lastCreate].map((request) => ({
        request,
        requestId: `fuzz-${++sent}`,
        plantId: plantId(sent),
      }));
      const bytes = Buffer.concat(all.map(({ request, requestId, plantId }) => bytesOf(request, requestId, plantId)));
      const client = await RawClient.connect(port, { isRecorded: false });
      let isReset = false;
      client.socket.on('error', () => {
        isReset = true;
      });
      await sendInPackets(client, bytes, packetCuts);
      const answers = (await client.answersToEnd()).filter(({ status }) => status !== 100);
      created.push(
        ...answers.filter(({ status, body }) => status === 200 && !body.includes('"openapi"')).map(({ body }) => body),
      );
      const isCut = isReset && packetCuts.length > 0;
      const rest = all.slice(answers.length);
      if (isCut) unanswered += rest.length;
      else for (const { plantId } of rest) unexecuted.add(plantId);
      expectOneAnswerEach(all, answers, isCut);
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
    expect(memoryMib(service) - memoryBefore, 'MiB of memory more than after a tenth').to.be.below(64);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
    // What was stored is what was answered: nothing besides, and nothing out of a body.
    const stored = (await plantsIn(join(folder, 'fuzz.db'))).filter(({ id }) => id !== 1n);
    const unexpected = less(
      stored.map(({ id: _, ...texts }) => JSON.stringify(texts)),
      created,
    );
    expect(unexpected.length, 'plants stored without an answer').to.be.at.most(unanswered);
    expect(stored.length - unexpected.length, 'plants stored and answered').to.equal(created.length);
    expect(stored.filter(({ id, name }) => unexecuted.has(id) || name === 'smuggled')).to.deep.equal([]);
  });
});

/** Ids that no damaged digit leads to from another. */
function plantId(index: number): bigint {
  return BigInt.asUintN(62, BigInt(index) * 0x9e3779b97f4a7c15n);
}

/** What of `values` is left without one of each of `others`. */
function less(values: readonly string[], others: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const other of others) counts.set(other, (counts.get(other) ?? 0) + 1);
  return values.filter((value) => {
    const count = counts.get(value) ?? 0;
    counts.set(value, count - 1);
    return count <= 0;
  });
}

/** Each answer belongs to the request at its place; where there is none any more, the one before closed the connection. */
function expectOneAnswerEach(
  sent: readonly { readonly request: HostileRequest; readonly requestId: string }[],
  answers: readonly RawAnswer[],
  isCut: boolean,
): void {
  for (const [index, answer] of answers.entries()) {
    const { request, requestId } = sent[index] ?? {};
    if (request === undefined) throw new Error(`an answer too many: ${answer.status} ${answer.body}`);
    const isClosing = answer.headers['connection'] === 'close';
    const context = `${answer.status} ${answer.body} to ${JSON.stringify(request)}`;
    expect(answer.status, context).to.be.within(200, 499);
    if (answer.headers['x-request-id'] !== requestId) {
      // One that the parser could not read.
      expect([answer.headers['x-request-id'], isClosing], context).to.satisfy(
        ([id, closing]: [string, boolean]) => closing && !id.startsWith('fuzz-') && id !== 'smuggled',
      );
    }
    if (request.doubt) expect([answer.status, isClosing], context).to.deep.equal([400, true]);
    if (request === lastCreate) expect(answer.status, context).to.equal(200);
    if (request.method === 'POST' && /^\/plants(\?|$)/.test(request.target)) {
      expect(undeclared(answer), context).to.deep.equal([]);
    } else if (answer.status === 302) {
      // It leads from / to the page, which is for people.
      expect(request.target, context).to.match(/^(http:\/\/[^/?]*)?\/?(\?|$)/);
    } else {
      expect(answer.headers['content-type'], context).to.equal('application/json');
      if (answer.status !== 200) expect(answer.json(), context).to.have.all.keys('error', 'message');
    }
    if (isClosing || (index === answers.length - 1 && !isCut)) {
      expect(isClosing, `${context} is the last one, and closes`).to.equal(true);
      expect(answers.length, `answers behind ${context}`).to.equal(index + 1);
    }
  }
  if (!isCut) expect(answers, 'answers at all').to.not.be.empty;
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
