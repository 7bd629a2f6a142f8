import { once } from 'node:events';
import { createServer } from 'node:http';
import { dirname } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { create } from '../support/client.js';
import { mariadbEngine, postgresEngine, sqliteEngine } from '../support/engines.js';
import { Program } from '../support/executable.js';
import { portOf } from '../support/port.js';
import { exchange, request } from '../support/raw-http.js';
import { CANARY } from '../support/secret-leaks.js';
import { TOKEN } from '../support/service.js';
import { commandsUnder, createBinFolder } from '../system/operate/guide.js';
import { folderWithPackages, NODE_24, skipUnlessExists } from './interop.js';

/** A span with its attributes as members (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
type Span = Readonly<Record<string, unknown>>;

/** Receives spans. */
async function startCollector() {
  const spans: Span[] = [];
  const server = createServer(async (req, res) => {
    for (const { scopeSpans } of JSON.parse(await text(req)).resourceSpans)
      for (const { attributes, ...span } of scopeSpans.flatMap(({ spans }: { spans: object[] }) => spans)) {
        for (const { key, value } of attributes) span[key] = Object.values(value)[0];
        spans.push(span);
      }
    res.setHeader('Content-Type', 'application/json').end('{}');
    server.emit('spans');
  });
  await once(server.listen(0, '127.0.0.1').unref(), 'listening');
  /** Waits for the span that has an attribute with a given value. */
  const waitForSpan = async (key: string, value: unknown) => {
    for (;;) {
      const found = spans.find((span) => span[key] === value);
      if (found) return found;
      await once(server, 'spans');
    }
  };
  return { spans, waitForSpan, url: `http://127.0.0.1:${portOf(server)}` };
}

describe('Traces according to the guide', () => {
  // As if OpenTelemetry were installed with the service.
  const folder = folderWithPackages();

  for (const [name, engine, node] of [
    ['SQLite', sqliteEngine, process.execPath],
    ['SQLite and Node 24', sqliteEngine, NODE_24],
    ['PostgreSQL', postgresEngine, process.execPath],
    ['MariaDB', mariadbEngine, process.execPath],
  ] as const) {
    describe(`on ${name}`, () => {
      const stores = engine.stores();

      it('contain requests and statements, but no plant and no token', async function () {
        skipUnlessExists(this, node);
        const { spans, waitForSpan, url } = await startCollector();
        const [start = 'false'] = commandsUnder('Traces');
        const store = await stores.create();
        const service = new Program(folder, ['sh', '-euc', start], {
          PATH: `${createBinFolder(folder, node)}:${dirname(node)}:${process.env['PATH']}`,
          COLLECTOR: url,
          // A format that the collector can parse, and a short delay.
          OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
          OTEL_BSP_SCHEDULE_DELAY: '100',
          ...{ PORT: '0', DATABASE_URL: store.url, ACCESS_TOKENS: TOKEN },
        });
        const port = await service.port();
        const plant = { id: 1n, name: 'canary-name', tag: 'canary-tag' };
        const traceId = '0123456789abcdef0123456789abcdef';
        const headers = { traceparent: `00-${traceId}-0123456789abcdef-01`, 'X-Other': 'canary-header' };
        expect((await create(port, plant, headers))?.outcome).to.equal(200);
        expect((await create(port, { ...plant, name: 'canary-other' }))?.outcome).to.equal(40901);
        await store.rejectPoison();
        expect((await create(port, { ...plant, id: 2n, name: 'poison' }))?.outcome).to.equal(50002);
        expect((await exchange(port, request('GET /nothing?seen=in-the-query')))?.outcome).to.equal(40401);

        const created = await waitForSpan('http.response.status_code', 200);
        expect(created).to.include({ traceId, name: 'POST', 'url.path': '/plants' });
        await waitForSpan('http.response.status_code', 409);
        await waitForSpan('http.response.status_code', 500);
        // The guide names this exception.
        expect(await waitForSpan('url.path', '/nothing')).to.include({ 'url.query': 'seen=in-the-query' });
        const children = spans.filter(({ parentSpanId }) => parentSpanId === created['spanId']);
        expect(`${children[0]?.['db.query.text']}`).to.match(/^INSERT INTO [`]?plants\b/i);

        expect(JSON.stringify(spans)).not.to.match(CANARY).and.not.to.include(TOKEN);
        expect(await service.stop()).to.equal(0);
      });
    });
  }
});
