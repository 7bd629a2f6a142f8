import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { services } from '../../composition/container.js';
import { PlantRejected, StorageUnavailable, TokenIssuerUnavailable } from '../../core/index.js';
import { DESCRIPTION_FILE, declaredResponses, errorsOf } from '../adapters/koa/description.js';
import { HEADERS, newPlant, post, postHead, startInTest, stored, withAdd } from '../adapters/koa/support.js';
import { endProgramsAfterAll, Program } from '../support/executable.js';
import { portOf } from '../support/port.js';
import { RawClient, request } from '../support/raw-http.js';
import { startService, type TestService } from '../support/service.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { installed, skipUnlessInteropInstalled } from './interop.js';

/** The proxy requires Node 24. */
const NODE = 'node-24/bin/node';

/** How to provoke a response. */
interface Provocation {
  readonly environment?: Readonly<Record<string, string>>;
  readonly rebind?: Parameters<typeof startService>[1];
  /** Sent first by another client, which stays connected. */
  readonly before?: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Sent to the service instead of the request, if the proxy would reject the request or cannot send it. */
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
  50002: { rebind: withAdd(async () => [{ kind: 'rejected', error: new PlantRejected('no') }]) },
  50301: failing(new StorageUnavailable('no response')),
  50302: { environment: { MAX_PENDING: '1' }, before: postHead({ Expect: '100-continue', 'Content-Length': '1' }) },
  50303: { isStopping: true },
  50304: {
    rebind: (container) =>
      container.rebind(services.TokenVerifier).toConstantValue({
        verify: () => Promise.reject(new TokenIssuerUnavailable('no response')),
      }),
  },
};

describe('A validating proxy (Prism) between a client and the service', () => {
  endProgramsAfterAll();
  const startOne = startInTest(startService);
  const folder = temporaryFolder();
  let service: TestService;
  let provocation: Provocation;

  // The proxy is started once; this relay connects it to the service of each test.
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

  /** Starts the proxy for a description and returns its URL. */
  async function startProxy(document: string): Promise<string> {
    const proxy = new Program(
      folder,
      [
        installed(NODE),
        installed('@stoplight/prism-cli/dist/index.js'),
        ...['proxy', '--errors', '--port', '0', document, `http://127.0.0.1:${portOf(relay)}`],
      ],
      {},
    );
    const [, url = ''] = await proxy.waitForOutput(/listening on (http:\S+:\d+)/);
    return url;
  }

  /** Sends the request of a provocation through the proxy; returns the outcome and the violations that the proxy found. */
  async function send(url: string, how: Provocation): Promise<{ outcome: unknown; violations: string | null }> {
    provocation = how;
    service = await startOne(how.environment, how.rebind);
    const other = await RawClient.connect(service.port);
    if (how.before) await other.send(how.before).readResponse();
    const headers = { ...HEADERS, ...how.headers, Connection: 'close' };
    const response = await fetch(`${url}/plants`, { method: 'POST', headers, body: how.body ?? PLANT });
    const body: unknown = await response.json();
    other.close();
    const isError = typeof body === 'object' && body !== null && 'error' in body;
    return { outcome: isError ? body.error : response.status, violations: response.headers.get('sl-violations') };
  }

  let proxy: string;
  before(async function () {
    skipUnlessInteropInstalled(this);
    skipUnless(this, existsSync(installed(NODE)), NODE);
    this.timeout(60_000);
    relay.listen(0, '127.0.0.1');
    await once(relay, 'listening');
    proxy = await startProxy(DESCRIPTION_FILE);
  });

  for (const [status, response] of Object.entries(declaredResponses)) {
    for (const outcome of status === '200' ? [200] : errorsOf(response)) {
      it(`finds no violation in a response with ${outcome}`, async () => {
        expect(await send(proxy, PROVOCATIONS[outcome] ?? {})).to.deep.equal({ outcome, violations: null });
      });
    }
  }

  it('rejects an id above 2⁵³, which it cannot represent; the service accepts it', async () => {
    const body = '{"id":9007199254740993,"name":"Monstera"}';
    expect(await send(proxy, { body })).to.deep.equal({ outcome: 422, violations: null });
    expect(await stored(service)).to.deep.equal([]);
    expect(await send(proxy, { instead: post(body) })).to.deep.equal({ outcome: 200, violations: null });
    expect(await stored(service)).to.deep.equal([{ id: 9007199254740993n, name: 'Monstera', tag: undefined }]);
  });

  describe('with a different description', () => {
    const differences = [
      { what: 'a status', from: '"409":', to: '"410":', how: PROVOCATIONS[40902], violation: 'status code' },
      { what: 'the body', from: 'required: [name]', to: 'required: [name, id]', how: {}, violation: "property 'id'" },
      { what: 'a header', from: 'minimum: 1', to: 'minimum: 60', how: PROVOCATIONS[50302], violation: '>= 60' },
    ];
    let otherProxy: string;
    before(async function () {
      this.timeout(60_000);
      const other = join(folder, 'other.yaml');
      const text = readFileSync(DESCRIPTION_FILE, 'utf8');
      writeFileSync(
        other,
        differences.reduce((changed, { from, to }) => changed.replace(from, to), text),
      );
      otherProxy = await startProxy(other);
    });

    for (const { what, how = {}, violation } of differences) {
      it(`detects that ${what} differs`, async () => {
        expect((await send(otherProxy, how)).violations).to.include(violation);
      });
    }
  });
});
