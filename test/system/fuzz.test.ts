import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { describe, it } from 'mocha';
import { serve } from '../support/client.js';
import { undeclared } from '../support/description.js';
import { sqliteStore } from '../support/engines.js';
import { RawClient } from '../support/raw-http.js';
import { temporaryFolder } from '../support/temporary.js';
import { FIRST_ID, hostileRequest, ID, lastCreate } from './hostile-requests.js';

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
    let lastId = FIRST_ID;
    /** Requests without a response: after malformed HTTP, after `Connection: close`, or because of a reset. */
    let unknown = 0;
    /** The body of each 200 to a create, which is the plant without its id. */
    const created = new Map<bigint, string>();

    const property = fc.asyncProperty(hostileRequests, async (hostile) => {
      const sent = [...hostile, lastCreate].map((request) => ({ request, id: ++lastId }));
      const client = await RawClient.connect(port);
      const bytes = sent.map(({ request, id }) => request.bytes.replaceAll(ID, `${id}`));
      client.send(Buffer.from(bytes.join(''), 'latin1'));
      const responses = (await client.readAllResponses()).filter(({ status }) => status !== 100);
      expect(responses, 'responses').to.have.lengthOf.within(1, sent.length);
      unknown += sent.length - responses.length;
      for (const [index, response] of responses.entries()) {
        const { request = lastCreate, id = 0n } = sent[index] ?? {};
        const { status, headers, body } = response;
        const context = `${status} ${body} to ${JSON.stringify(request)}`;
        const [line] = request.bytes.split('\r\n');
        const isClosing = headers['connection'] === 'close';
        expect(status, context).to.be.within(200, 499);
        expect(undeclared(response, line), context).to.deep.equal([]);
        if (status >= 400) expect(response.json(), context).to.have.all.keys('error', 'message');
        if (isClosing) expect(index, `${context} is the last response`).to.equal(responses.length - 1);
        if (request.isMalformed) expect([status, isClosing], context).to.deep.equal([400, true]);
        if (request === lastCreate) expect(status, context).to.equal(200);
        // Only the parser, which closes the connection, rejects a request without reading its id.
        if (!isClosing || /^(fuzz|smuggled)/.test(headers['x-request-id'] ?? ''))
          expect(headers['x-request-id'], context).to.equal(`fuzz-${id}`);
        if (status === 200 && !body.includes('"openapi"')) created.set(id, body);
      }
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
    expect(await service.stop()).to.equal(0);
    const plants = await sqliteStore(join(folder, 'fuzz.db')).readPlants();
    const stored = new Map(plants.map(({ id, ...texts }) => [id, JSON.stringify(texts)]));
    expect([...stored.values()].filter((texts) => texts.includes('"smuggled"'))).to.deep.equal([]);
    for (const [id, texts] of created) expect(stored.get(id), `plant ${id}`).to.equal(texts);
    expect(stored.size - created.size, 'stored without a response').to.be.at.most(unknown);
  });
});
