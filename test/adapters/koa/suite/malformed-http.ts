import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, RawClient } from '../../../support/raw-http.js';
import {
  newPlant,
  post,
  postHead,
  type Start,
  sharedService,
  startInTest,
  stored,
  verdict,
  verdictsToEnd,
} from '../support.js';

const head = (...lines: string[]) => `${['POST /plants HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`;
const good = `${post()}`;

const MALFORMED: Record<string, string | Uint8Array> = {
  'no Host': good.replace('Host: test\r\n', ''),
  'a Host with a blank': good.replace('Host: test', 'Host: a b'),
  'a Host with a path': good.replace('Host: test', 'Host: a/b?c'),
  'a Host with a user': good.replace('Host: test', 'Host: a@b'),
  'two Hosts in one': good.replace('Host: test', 'Host: a, b'),
  'a Host with a port that is none': good.replace('Host: test', 'Host: a:b'),
  'two Hosts': good.replace('Host: test\r\n', 'Host: test\r\nHost: test\r\n'),
  'a first line of garbage': 'garbage\r\n\r\n',
  'a first line without version': 'POST /plants\r\n\r\n',
  'a first line with two paths': good.replace('/plants', '/plants /plants'),
  'a path without slash': good.replace('/plants', 'plants'),
  'bytes beyond ASCII in the path': Buffer.from(good.replace('/plants', '/plants?\xe9'), 'latin1'),
  'a method in lower case': good.replace('POST', 'post'),
  'a method in mixed case': good.replace('POST', 'Post'),
  'an unknown method': good.replace('POST', 'PLANT'),
  'an unknown version': good.replace('HTTP/1.1', 'HTTP/1.2'),
  'version 2.0': good.replace('HTTP/1.1', 'HTTP/2.0'),
  'another protocol': good.replace('HTTP/1.1', 'ICE/1.0'),
  'a header without colon': head('Host: test', 'Authorization'),
  'a header without name': head('Host: test', ': x'),
  'a blank in the name of a header': head('Host: test', 'X Y: z'),
  'a blank before the colon of a header': head('Host: test', 'Content-Length : 3'),
  'a header that goes on in the next line': head('Host: test', 'X: a', ' b'),
  'a NUL in a header': head('Host: test', 'X: a\0b'),
  'a control character in a header': head('Host: test', 'X: a\u0007b'),
  'a CR in a header': head('Host: test', 'X: a\rb'),
  'lines that end in LF alone': good.replaceAll('\r\n', '\n'),
  'Content-Length and Transfer-Encoding': `${head('Host: test', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'Transfer-Encoding and Content-Length': `${head('Host: test', 'Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`,
  'two Content-Lengths': `${head('Host: test', 'Content-Length: 0', 'Content-Length: 5')}{"id"`,
  'a Content-Length list': `${head('Host: test', 'Content-Length: 5, 5')}{"id"`,
  'a Content-Length with a sign': `${head('Host: test', 'Content-Length: +5')}{"id"`,
  'a negative Content-Length': head('Host: test', 'Content-Length: -1'),
  'a hexadecimal Content-Length': `${head('Host: test', 'Content-Length: 0x5')}{"id"`,
  'a Content-Length beyond 64 bit': head('Host: test', 'Content-Length: 18446744073709551616'),
  'a Transfer-Encoding that does not end in chunked': head('Host: test', 'Transfer-Encoding: chunked, identity'),
  'a Transfer-Encoding of two codings': `${head('Host: test', 'Transfer-Encoding: gzip, chunked')}0\r\n\r\n`,
  'chunked twice': `${head('Host: test', 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
  'an empty Transfer-Encoding': head('Host: test', 'Transfer-Encoding:'),
  'an unknown Transfer-Encoding': head('Host: test', 'Transfer-Encoding: xchunked'),
  'the preface of HTTP/2': 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  'a TLS ClientHello': Buffer.from('16030100c8010000c40303', 'hex'),
  'a line of SMTP': 'EHLO plants.example\r\n',
  'random bytes': Buffer.from('00ff0a0d8090a0b0c0d0e0f0', 'hex'),
};

const BAD_CHUNKS: Record<string, string> = {
  'a size that is no number': 'x\r\n{}\r\n0\r\n\r\n',
  'a negative size': '-2\r\n{}\r\n0\r\n\r\n',
  'a size beyond 64 bit': 'fffffffffffffffff\r\n{}\r\n0\r\n\r\n',
  'more bytes than its size': '1\r\n{}\r\n0\r\n\r\n',
  'a NUL in its size': '2\0\r\n{}\r\n0\r\n\r\n',
};

/** Bytes that are no request: whatever they are, the answer is an Error. */
export function malformedHttp(start: Start): void {
  describe('malformed HTTP', () => {
    const service = sharedService(start);
    const startOne = startInTest(start);

    for (const [what, bytes] of Object.entries(MALFORMED)) {
      it(`refuses ${what}`, async () => {
        expect(verdict(await exchange(service().port, bytes))).to.equal(40000);
      });
    }

    for (const [what, chunk] of Object.entries(BAD_CHUNKS)) {
      it(`refuses a chunk with ${what}`, async () => {
        const bytes = post(chunk, { 'Transfer-Encoding': 'chunked' });
        expect(verdict(await exchange(service().port, bytes))).to.equal(40000);
      });

      it(`refuses a chunk with ${what} that comes late, compressed`, async () => {
        const client = await RawClient.connect(service().port);
        const headers = { 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip', Expect: '100-continue' };
        await client.send(postHead(headers)).answer();
        expect(verdict(await client.send(chunk).answer())).to.equal(40000);
        client.close();
      });
    }

    it('gives one answer to any of these, serves nothing behind it, and ends the connection', async () => {
      const all = [
        ...Object.values(MALFORMED).map((bytes) => [Buffer.from(bytes), 40000] as const),
        ...Object.values(BAD_CHUNKS).map((chunk) => [post(chunk, { 'Transfer-Encoding': 'chunked' }), 40000] as const),
        // What is wrong with its head has been answered before its chunk is read.
        [post('x\r\n', { Authorization: '', 'Transfer-Encoding': 'chunked' }), 40101] as const,
      ].filter(([bytes]) => /\r\n$/.test(bytes.toString('latin1')));
      const one = await startOne();
      const verdicts = all.map(([bytes]) => verdictsToEnd(one, Buffer.concat([bytes, post()])));
      expect(await Promise.all(verdicts)).to.deep.equal(all.map(([, error]) => [error]));
      expect(await stored(one)).to.be.empty;
    });

    it('stores nothing of a body that ends in a bad chunk', async () => {
      const one = await startOne();
      const body = newPlant();
      const chunks = `${body.length.toString(16)}\r\n${body}\r\nx\r\n\r\n`;
      expect(verdict(await exchange(one.port, post(chunks, { 'Transfer-Encoding': 'chunked' })))).to.equal(40000);
      expect(await stored(one)).to.be.empty;
    });

    for (const [what, bytes] of Object.entries({
      'one long header': head('Host: test', `X: ${'x'.repeat(17_000)}`),
      'many short headers': head('Host: test', ...Array.from({ length: 3000 }, (_, index) => `X${index}: y`)),
      'a header without end': `POST /plants HTTP/1.1\r\nX: ${'x'.repeat(1_000_000)}`,
      'a long path': good.replace('/plants', `/plants?${'x'.repeat(20_000)}`),
      'a path without end': `POST /${'x'.repeat(1_000_000)}`,
    })) {
      it(`refuses ${what} as too large`, async () => {
        expect(await verdictsToEnd(service(), bytes)).to.deep.equal([43101]);
      });
    }

    it('takes headers of 15 KiB, and hundreds of them', async () => {
      const many = Object.fromEntries(Array.from({ length: 500 }, (_, index) => [`X-${index}`, 'y'.repeat(15)]));
      expect(verdict(await exchange(service().port, post(newPlant(), { X: 'x'.repeat(15_000) })))).to.equal(200);
      expect(verdict(await exchange(service().port, post(newPlant(), many)))).to.equal(200);
    });

    const accepted: Record<string, string> = {
      'HTTP/1.0 without Host': `${post()}`.replace('HTTP/1.1', 'HTTP/1.0').replace('Host: test\r\n', ''),
      'empty lines before the request': `\r\n\r\n${post()}`,
      'an empty Host': `${post()}`.replace('Host: test', 'Host:'),
      'a header name in capitals': `${post()}`.replace('Content-Type', 'CONTENT-TYPE'),
      'a header without a blank after its colon': `${post()}`.replace('Content-Type: ', 'Content-Type:'),
      'chunks with extensions and trailers': `${postHead({ 'Transfer-Encoding': 'chunked' })}19;x=y\r\n{"id":77,"name":"chunked"\r\n1\r\n}\r\n0\r\nX: y\r\n\r\n`,
    };
    for (const [what, bytes] of Object.entries(accepted)) {
      it(`takes ${what}`, async () => {
        expect(verdict(await exchange(service().port, bytes))).to.equal(200);
      });
    }
  });
}
