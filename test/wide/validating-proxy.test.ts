import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { services } from '../../composition/container.js';
import { PlantRefused, StorageUnavailable, TokenIssuerUnavailable } from '../../core/index.js';
import { DESCRIPTION_FILE, declaredResponses, errorsOf } from '../adapters/koa/description.js';
import { HEADERS, newPlant, post, postHead, startInTest, stored, withAdd } from '../adapters/koa/support.js';
import { endProgramsAfterAll, Program } from '../support/executable.js';
import { needs } from '../support/needs.js';
import { RawClient, request } from '../support/raw-http.js';
import { startService, type TestService } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { needsWide, wide } from './wide.js';

/** What the proxy needs. */
const NODE = 'node-24/bin/node';

/** How an answer comes about. */
interface Provocation {
  readonly environment?: Readonly<Record<string, string>>;
  readonly rebind?: Parameters<typeof startService>[1];
  /** What another client sends before, and stays. */
  readonly before?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** What the service gets in place of the request, where the proxy would refuse it or cannot send it. */
  readonly instead?: Buffer;
  readonly isStopping?: boolean;
}

const PLANT = '{"id":1,"name":"Monstera"}';
const failing = (error: Error): Provocation => ({ rebind: withAdd(() => Promise.reject(error)) });

const PROVOCATIONS: Readonly<Record<number, Provocation>> = {
  200: {},
  40000: { instead: Buffer.from('POST /plants HTTP/1.1\r\n\r\n') },
  40001: { instead: post('{') },
  40002: { instead: post('{}') },
  40003: { body: newPlant({ name: '\0' }) },
  40101: { instead: request('POST /plants') },
  40102: { headers: { Authorization: 'Bearer wrong' } },
  40801: {
    environment: { HEADERS_TIMEOUT: '1ms', REQUEST_TIMEOUT: '1ms' },
    instead: postHead({ 'Content-Length': '1' }),
  },
  40901: { before: post('{"id":1,"name":"Ficus"}') },
  40902: { before: post(PLANT) },
  41301: { environment: { BODY_LIMIT: '1b' } },
  41501: { instead: post(PLANT, { 'Content-Type': 'text/plain' }) },
  41701: { instead: post(PLANT, { Expect: 'x' }) },
  43101: { instead: post(PLANT, { X: 'x'.repeat(17_000) }) },
  50001: failing(new Error()),
  50002: { rebind: withAdd(async () => [{ kind: 'refused', error: new PlantRefused('no') }]) },
  50301: failing(new StorageUnavailable('no answer')),
  50302: { environment: { MAX_PENDING: '1' }, before: postHead({ Expect: '100-continue', 'Content-Length': '1' }) },
  50303: { isStopping: true },
  50304: {
    rebind: (container) =>
      container.rebind(services.TokenVerifier).toConstantValue({
        verify: () => Promise.reject(new TokenIssuerUnavailable('no answer')),
      }),
  },
};

describe('A validating proxy (Prism) between a client and the service', () => {
  endProgramsAfterAll();
  const startOne = startInTest(startService);
  const folder = temporaryFolder();
  let service: TestService;
  let provocation: Provocation;

  // The proxy is started once; behind it stands what leads to the service of the test.
  const relay = createServer((socket) => {
    const upstream = connect(service.port, '127.0.0.1');
    const { instead, isStopping } = provocation;
    socket.once('data', () => instead && upstream.write(instead));
    socket.on('data', (bytes) => instead || upstream.write(bytes, () => isStopping && service.stop()));
    upstream.pipe(socket);
    for (const end of [socket, upstream]) end.on('error', () => end.destroy());
    socket.once('close', () => upstream.destroy());
  });
  after(() => relay.close());

  /** Starts the proxy over a document, for its URL. */
  async function proxyOver(document: string): Promise<string> {
    const address = relay.address();
    if (address === null || typeof address === 'string') throw new TypeError('the relay listens on no TCP port');
    const proxy = new Program(
      folder,
      [
        wide(NODE),
        wide('@stoplight/prism-cli/dist/index.js'),
        ...['proxy', '--errors', '--port', '0', document, `http://127.0.0.1:${address.port}`],
      ],
      {},
    );
    const [, url = ''] = await proxy.says(/listening on (http:\S+:\d+)/);
    return url;
  }

  /** Sends the request of a provocation through the proxy, for the outcome, and what the proxy found. */
  async function send(url: string, how: Provocation): Promise<{ outcome: unknown; violations: string | null }> {
    provocation = how;
    service = await startOne(how.environment, how.rebind);
    const other = await RawClient.connect(service.port);
    if (how.before) await other.send(how.before).answer();
    const headers = { ...HEADERS, ...how.headers, Connection: 'close' };
    const response = await fetch(`${url}/plants`, { method: 'POST', headers, body: how.body ?? PLANT });
    const body: unknown = await response.json();
    other.close();
    const isError = typeof body === 'object' && body !== null && 'error' in body;
    return { outcome: isError ? body.error : response.status, violations: response.headers.get('sl-violations') };
  }

  let proxy: string;
  before(async function () {
    needsWide(this);
    needs(this, existsSync(wide(NODE)), NODE);
    this.timeout(60_000);
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    proxy = await proxyOver(DESCRIPTION_FILE);
  });

  for (const [status, response] of Object.entries(declaredResponses)) {
    for (const outcome of status === '200' ? [200] : errorsOf(response)) {
      it(`finds ${outcome} as the document declares it`, async () => {
        expect(await send(proxy, PROVOCATIONS[outcome] ?? {})).to.deep.equal({ outcome, violations: null });
      });
    }
  }

  it('refuses by itself an id beyond 2⁵³, which no number of its own is', async () => {
    const body = '{"id":9007199254740993,"name":"Monstera"}';
    expect(await send(proxy, { body })).to.deep.equal({ outcome: 422, violations: null });
    expect(await stored(service)).to.deep.equal([]);
    expect(await send(proxy, { instead: post(body) })).to.deep.equal({ outcome: 200, violations: null });
    expect(await stored(service)).to.deep.equal([{ id: 9007199254740993n, name: 'Monstera', tag: undefined }]);
  });

  describe('over a document that differs', () => {
    const differences = [
      { what: 'a status', from: '"409":', to: '"410":', how: PROVOCATIONS[40902], violation: 'status code' },
      { what: 'the body', from: 'required: [name]', to: 'required: [name, id]', how: {}, violation: "property 'id'" },
      { what: 'a header', from: 'minimum: 1', to: 'minimum: 60', how: PROVOCATIONS[50302], violation: '>= 60' },
    ];
    let proxyOverOther: string;
    before(async function () {
      this.timeout(60_000);
      const other = join(folder, 'other.yaml');
      const text = readFileSync(DESCRIPTION_FILE, 'utf8');
      writeFileSync(
        other,
        differences.reduce((changed, { from, to }) => changed.replace(from, to), text),
      );
      proxyOverOther = await proxyOver(other);
    });

    for (const { what, how = {}, violation } of differences) {
      it(`finds that ${what} differs`, async () => {
        expect((await send(proxyOverOther, how)).violations).to.include(violation);
      });
    }
  });
});
