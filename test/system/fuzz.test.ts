import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { MALFORMED } from '#contract/http/malformed-http.js';
import { chunked } from '#contract/http/service.js';
import { CREATE_HEADERS, createRequest, RawClient, request, serve } from '../support/client.js';
import { undeclared } from '../support/description.js';
import { sqliteStore } from '../support/engines.js';
import { temporaryFolder } from '../support/temporary.js';

const CLIENTS = 32;
/** Connections of each client, with nine requests on average. */
const CONNECTIONS = 40;
/** One less than the number of requests that a connection may have without a response. */
const MAX_REQUESTS = 15;

/** Returns the bytes of a request with the request id `fuzz-ID`, and perhaps with a plant that has this id. */
type Hostile = (id: bigint) => Buffer;

const smuggled = createRequest({ id: -77n, name: 'smuggled' }, { 'X-Request-Id': 'smuggled' });
const mostly = <T>(usual: T, ...others: readonly T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });

// Without HEAD and CONNECT, whose responses a client reads in other ways.
const startLine = mostly(
  ...['POST /plants', 'GET /', 'GET /openapi.json', 'PUT /plants', 'SEARCH /plants/', 'OPTIONS *', 'POST //plants'],
  ...['POST /plants?canary-query', 'POST http://canary:canary@evil.example:1/plants', 'TRACE /plants?<script>'],
);
const header = mostly<Readonly<Record<string, string | undefined>>>(
  ...[{}, { Authorization: undefined }, { Authorization: 'Basic Y2FuYXJ5' }, { 'Content-Type': 'text/plain' }],
  ...[{ 'Content-Encoding': 'gzip' }, { Expect: '100-continue' }, { Expect: 'canary' }, { Upgrade: 'h2c' }],
  ...[{ Connection: 'close' }, { Connection: 'Content-Length' }, { ['__proto__']: 'canary' }, { Y: '"\\\xe9\xff' }],
);
const body = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }).map((name) => `{"id":ID,"name":${JSON.stringify(name)},"x":"canary"}`),
  mostly('{"id":ID,"name":"canary","tag":""}', `${smuggled}`, '[['.repeat(50), '{"id":1.5,"name":"canary"}'),
  fc.string({ unit: 'binary', maxLength: 50 }),
);
const wellFormed = fc.tuple(startLine, header, header, body, fc.boolean()).map(
  ([line, first, second, text, isChunked]): Hostile =>
    (id) => {
      const bytes = Buffer.from(text.replace('ID', `${id}`));
      const headers = { ...CREATE_HEADERS, 'X-Request-Id': `fuzz-${id}`, ...first, ...second };
      return isChunked
        ? request(line, { ...headers, 'Transfer-Encoding': 'chunked' }, chunked(bytes))
        : request(line, headers, bytes);
    },
);
const malformed = fc.constantFrom(...Object.values(MALFORMED)).map((change): Hostile => {
  return () => Buffer.from(change(smuggled.toString('latin1')), 'latin1');
});
/** A create that closes its connection. */
const last: Hostile = (id) =>
  createRequest({ id, name: 'canary-last' }, { 'X-Request-Id': `fuzz-${id}`, Connection: 'close' });

const connection = fc.array(fc.oneof({ weight: 12, arbitrary: wellFormed }, { weight: 1, arbitrary: malformed }), {
  maxLength: MAX_REQUESTS,
  size: 'max',
});

describe('The service under hostile requests', () => {
  const folder = temporaryFolder();

  it('sends at most one response, declared and below 500, to each request, and executes no smuggled request', async () => {
    const service = serve(folder, { DATABASE_URL: 'sqlite:fuzz.db', LOG_LEVEL: 'info' });
    const port = await service.port();
    let lastId = 0n;
    /** Requests without a response: after malformed HTTP, after `Connection: close`, or because of a reset. */
    let unknown = 0;
    /** The body of each 200 to a create, which is the plant without its id. */
    const created = new Map<bigint, string>();

    const property = fc.asyncProperty(connection, async (hostile) => {
      const sent = [...hostile, last].map((toBytes) => ({ id: ++lastId, bytes: toBytes(lastId) }));
      const client = await RawClient.connect(port);
      client.send(Buffer.concat(sent.map(({ bytes }) => bytes)));
      const responses = (await client.readAllResponses()).filter(({ status }) => status !== 100);
      expect(responses, 'responses').to.have.lengthOf.within(1, sent.length);
      unknown += sent.length - responses.length;
      for (const [index, response] of responses.entries()) {
        const { id = 0n, bytes = '' } = sent[index] ?? {};
        const { status, headers, body } = response;
        const context = `${status} ${body} to ${bytes}`;
        expect(status, context).to.be.within(200, 499);
        expect(undeclared(response, `${bytes}`.split('\r\n', 1)[0]), context).to.deep.equal([]);
        if (status >= 400) expect(response.json(), context).to.have.all.keys('error', 'message');
        if (headers['connection'] === 'close') expect(index, context).to.equal(responses.length - 1);
        // The parser rejects a request without reading its id.
        else expect(headers['x-request-id'], context).to.equal(`fuzz-${id}`);
        if (status === 200 && !body.includes('"openapi"')) created.set(id, body);
      }
    });
    const run = (numRuns: number) =>
      Promise.all(Array.from({ length: CLIENTS }, () => fc.assert(property, { numRuns })));
    await run(CONNECTIONS / 10);
    const memoryBefore = service.memoryMib();
    await run(CONNECTIONS);

    expect(service.memoryMib() - memoryBefore, 'MiB more memory than after a tenth of the requests').to.be.below(64);
    expect(await service.stop()).to.equal(0);
    const plants = await sqliteStore(join(folder, 'fuzz.db')).readPlants();
    const stored = new Map(plants.map(({ id, ...texts }) => [id, JSON.stringify(texts)]));
    expect([...stored.values()].filter((texts) => texts.includes('"smuggled"'))).to.deep.equal([]);
    for (const [id, texts] of created) expect(stored.get(id), `plant ${id}`).to.equal(texts);
    expect(stored.size - created.size, 'stored without a response').to.be.at.most(unknown);
  });
});
