import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { create, TOKEN, toOutcome } from '../support/client.js';
import { mariadbEngine, postgresEngine, sqliteEngine, type TestEngine } from '../support/engines.js';
import { endProgramsAfterEach, Program } from '../support/executable.js';
import { portOf } from '../support/port.js';
import { exchange, request } from '../support/raw-http.js';
import { CANARY } from '../support/secret-leaks.js';
import { skipUnless } from '../support/skip-unless.js';
import { commandsUnder, createBinFolder } from '../system/operate/guide.js';
import { installed, skipUnlessInteropInstalled } from './interop.js';

/** The parts of a span that these tests use (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** A request of OpenTelemetry's exporter. */
interface Export {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly Span[] }[] }[];
}

type Stores = ReturnType<TestEngine['stores']>;

/** Receives spans. */
class Collector {
  readonly server = createServer(async (req, res) => {
    // OpenTelemetry's exporter sends this type.
    const exported = (await json(req)) as Export;
    this.spans.push(...exported.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
    res.setHeader('Content-Type', 'application/json').end('{}');
    this.#events.emit('spans');
  });
  readonly spans: Span[] = [];
  readonly #events = new EventEmitter();

  async listen(): Promise<string> {
    this.server.listen(0, '127.0.0.1');
    await once(this.server, 'listening');
    this.server.unref();
    return `http://127.0.0.1:${portOf(this.server)}`;
  }

  /** Waits for the span that has an attribute with a given value. */
  async waitForSpan(key: string, value: unknown): Promise<Span> {
    for (;;) {
      const found = this.spans.find((span) => attributeOf(span, key) === value);
      if (found) return found;
      await once(this.#events, 'spans');
    }
  }
}

function attributeOf({ attributes }: Span, key: string): unknown {
  return Object.values(attributes.find((attribute) => attribute.key === key)?.value ?? {})[0];
}

describe('Traces according to the guide', () => {
  endProgramsAfterEach();
  let folder: string;
  before(function () {
    skipUnlessInteropInstalled(this);
    // Inside node_modules, so that OpenTelemetry resolves as if it were installed with the service.
    folder = mkdtempSync(join(installed('.'), '.traces-'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const node24 = installed('node-24/bin/node');
  for (const [name, engine, node] of [
    ['SQLite', sqliteEngine, process.execPath],
    ['SQLite and Node 24', sqliteEngine, node24],
    ['PostgreSQL', postgresEngine, process.execPath],
    ['MariaDB', mariadbEngine, process.execPath],
  ] as const) {
    describe(`on ${name}`, () => {
      const stores = engine.stores();
      before(function () {
        skipUnless(this, existsSync(node), 'Node 24: npm ci --prefix test/interop');
      });

      it('contain requests and statements, but no plant and no token', () => expectTraces(stores, node));
    });
  }

  async function expectTraces(stores: Stores, node: string): Promise<void> {
    const collector = new Collector();
    const [start] = commandsUnder('Traces');
    const store = await stores.create();
    const service = new Program(folder, ['sh', '-euc', start ?? 'false'], {
      PATH: `${createBinFolder(folder, node)}:${dirname(node)}:${process.env['PATH']}`,
      COLLECTOR: await collector.listen(),
      // A format that the collector can parse, and a short delay.
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '100',
      ...{ PORT: '0', DATABASE_URL: store.url, ACCESS_TOKENS: TOKEN },
    });
    const port = await service.port();
    const plant = { id: 1n, name: 'canary-name', tag: 'canary-tag' };
    const traceId = '0123456789abcdef0123456789abcdef';
    const headers = { traceparent: `00-${traceId}-0123456789abcdef-01`, 'X-Other': 'canary-header' };
    expect(toOutcome(await create(port, plant, headers))).to.equal(200);
    expect(toOutcome(await create(port, { ...plant, name: 'canary-other' }))).to.equal(40901);
    await store.rejectPoison();
    expect(toOutcome(await create(port, { ...plant, id: 2n, name: 'poison', tag: 'canary-poison' }))).to.equal(50002);
    expect(toOutcome(await exchange(port, request('GET /nothing?seen=in-the-query')))).to.equal(40401);

    const created = await collector.waitForSpan('http.response.status_code', 200);
    expect(created).to.include({ traceId, name: 'POST' });
    expect(attributeOf(created, 'url.path')).to.equal('/plants');
    await collector.waitForSpan('http.response.status_code', 409);
    await collector.waitForSpan('http.response.status_code', 500);
    expect(attributeOf(await collector.waitForSpan('url.path', '/nothing'), 'url.query'), 'as the guide says').to.equal(
      'seen=in-the-query',
    );
    const children = collector.spans.filter(({ parentSpanId }) => parentSpanId === created.spanId);
    expect(children.map((span) => `${attributeOf(span, 'db.query.text')}`).join()).to.match(
      /^INSERT INTO [`]?plants\b/i,
    );

    expect(JSON.stringify(collector.spans)).not.to.match(CANARY).and.not.to.include(TOKEN);
    expect(await service.kill('SIGTERM').exited()).to.equal(0);
  }
});
