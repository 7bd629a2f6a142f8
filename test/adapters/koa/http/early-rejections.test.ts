import { once } from 'node:events';
import { expect } from 'chai';
import { it } from 'mocha';
import { RawClient, type RawResponse, request } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import { HEADERS, newPlant, post, postHead, sharedService, verdict } from '../support.js';

const LARGE_BYTES = 64 * 1024 ** 2;
const LARGE = { 'Content-Length': `${LARGE_BYTES}` };

/** Requests rejected because of their headers. */
const BY_HEAD: Record<string, [head: (framing: Record<string, string>) => Buffer, error: number]> = {
  'an unknown path': [(framing) => request('POST /plant', { ...HEADERS, ...framing }), 40401],
  'another method': [(framing) => request('PUT /plants', { ...HEADERS, ...framing }), 40501],
  'no credential': [(framing) => request('POST /plants', { 'Content-Type': 'application/json', ...framing }), 40101],
  'a wrong token': [(framing) => postHead({ Authorization: 'Bearer wrong', ...framing }), 40102],
  'an unknown Expect': [(framing) => postHead({ Expect: 'x', ...framing }), 41701],
  'another media type': [(framing) => postHead({ 'Content-Type': 'text/plain', ...framing }), 41501],
  'an unknown Content-Encoding': [(framing) => postHead({ 'Content-Encoding': 'zstd', ...framing }), 41501],
};

/** Sends chunks until the connection closes, or has accepted LARGE_BYTES. Returns the response. */
async function keepSending(client: RawClient, chunk: string | Uint8Array): Promise<RawResponse | undefined> {
  const response = client.readResponse();
  const ended = client.ended();
  let open = true;
  ended.then(() => {
    open = false;
  });
  while (open && client.socket.bytesWritten < LARGE_BYTES) {
    client.send(chunk);
    if (client.socket.writableNeedDrain) await Promise.race([once(client.socket, 'drain').catch(() => {}), ended]);
    else await new Promise(setImmediate);
  }
  return response;
}

/** Responses sent before the request body has arrived. */
httpSuite('early rejections', (start) => {
  const service = sharedService(start, { BODY_LIMIT: '64kb' });

  for (const [what, [head, error]] of Object.entries(BY_HEAD)) {
    it(`keeps the connection after ${what} if the whole body arrived`, async () => {
      const client = await RawClient.connect(service().port);
      const body = newPlant({ tag: 'x'.repeat(1000) });
      const rejected = Buffer.concat([head({ 'Content-Length': `${body.length}` }), Buffer.from(body)]);
      expect(verdict(await client.send(rejected).readResponse())).to.equal(error);
      expect(verdict(await client.send(post()).readResponse())).to.equal(200);
      client.close();
    });
  }

  const sending: Record<string, [head: Buffer, chunk: Uint8Array, error: number]> = {
    'a body that is too large according to its Content-Length': [postHead(LARGE), Buffer.alloc(65_536, ' '), 41301],
    'a body that becomes too large in chunks': [
      postHead({ 'Transfer-Encoding': 'chunked' }),
      Buffer.from(`8000\r\n${' '.repeat(0x8000)}\r\n`),
      41301,
    ],
    'a compressed body that becomes too large in chunks': [
      postHead({ 'Content-Encoding': 'gzip', 'Transfer-Encoding': 'chunked' }),
      Buffer.from(`8000\r\n${' '.repeat(0x8000)}\r\n`),
      41301,
    ],
  };
  for (const [what, [head, chunk, error]] of Object.entries(sending)) {
    it(`rejects and disconnects a client that keeps sending ${what}`, async () => {
      const client = await RawClient.connect(service().port);
      const response = await keepSending(client.send(head), chunk);
      expect(verdict(response)).to.equal(error);
      expect(response?.headers).to.include({ connection: 'close' });
      expect(client.socket.bytesWritten, 'bytes accepted').to.be.below(LARGE_BYTES);
      client.close();
    });
  }
});
