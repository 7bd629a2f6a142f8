import { expect } from 'chai';
import { it } from 'mocha';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import {
  HEADERS,
  httpSuite,
  newPlant,
  outcome,
  post,
  postHead,
  sendToEnd,
  sharedServer,
  startInTest,
  TOKEN,
} from './support.js';

const head = (...lines: string[]) => `${['POST /plants HTTP/1.1', 'Host: test', ...lines].join('\r\n')}\r\n\r\n`;
const changed = (from: string, to: string) => `${post()}`.replace(from, to);
/** Returns a create with this number of headers; `post` sends four. */
const withHeaders = (count: number) =>
  post(newPlant(), Object.fromEntries(Array.from({ length: count - 4 }, (_, index) => [`X-${index}`, 'y'])));
const authorized = (authorization: string) => post(newPlant(), { Authorization: authorization });

const REQUESTS: Readonly<Record<string, readonly [bytes: string | Uint8Array, outcome: number]>> = {
  // Credentials
  'a tab after Bearer': [authorized(`Bearer\t${TOKEN}`), 40101],
  'two credentials in one header': [authorized(`Bearer ${TOKEN}, Bearer`), 40101],
  'a non-ASCII token': [authorized('Bearer t\xf6ken'), 40101],
  'spaces after the token': [authorized(`Bearer ${TOKEN}  `), 200],
  'a credential in quotes': [authorized(`"Bearer ${TOKEN}"`), 40101],
  'a list of tokens': [authorized(`Bearer ${TOKEN},${TOKEN}`), 40102],
  'two Authorization headers': [post(newPlant(), { authorization: `Bearer ${TOKEN}` }), 40101],
  'a wrong and a valid Authorization header': [
    post(newPlant(), { Authorization: 'Bearer wrong', authorization: `Bearer ${TOKEN}` }),
    40101,
  ],
  // Media types and encodings
  'the same charset twice': [
    post(newPlant(), { 'Content-Type': 'application/json;charset=utf-8;Charset = utf-8' }),
    41501,
  ],
  'an empty Content-Encoding': [post(newPlant(), { 'Content-Encoding': '' }), 200],
  'Content-Encoding: x-gzip': [post('', { 'Content-Encoding': 'x-gzip' }), 41501],
  'an empty element in Content-Encoding': [post('', { 'Content-Encoding': 'gzip,' }), 41501],
  'two Content-Encoding headers': [post('', { 'Content-Encoding': 'gzip', 'content-encoding': 'identity' }), 41501],
  // Targets and methods
  'a target with a truncated IPv6 address': [request('POST http://[::1/x', HEADERS), 40401],
  'a path with a truncated percent escape': [request('POST /plants%', HEADERS), 40401],
  'the target *': [request('OPTIONS *', HEADERS), 40401],
  'a path without a slash': [changed('/plants', 'plants'), 40000],
  'non-ASCII bytes in the path': [Buffer.from(changed('/plants', '/plants?\xe9'), 'latin1'), 40000],
  'a method in lower case': [changed('POST', 'post'), 40000],
  'a method that Node does not know': [changed('POST', 'PLANT'), 40000],
  'a request to upgrade': [post(newPlant(), { Connection: 'Upgrade, HTTP2-Settings', Upgrade: 'h2c' }), 200],
  // The order of checks around Expect
  'another method with an unknown Expect': [request('PUT /plants', { ...HEADERS, Expect: 'x' }), 40501],
  'no credential with an unknown Expect': [request('POST /plants', { Expect: 'x' }), 40101],
  'a wrong token with an unknown Expect': [post('', { Authorization: 'Bearer wrong', Expect: 'x' }), 40102],
  'an unknown Expect with another media type': [post('{}', { Expect: 'x', 'Content-Type': 'text/plain' }), 41701],
  'a malformed request with an unknown path': ['PUT /plant HTTP/1.1\r\nExpect: x\r\n\r\n', 40000],
  // Lenient and strict HTTP
  'HTTP/1.0 without Host': [changed('HTTP/1.1', 'HTTP/1.0').replace('Host: test\r\n', ''), 200],
  'HTTP/1.0 with Expect: 100-continue': [
    `${post(newPlant(), { Expect: '100-continue' })}`.replace('HTTP/1.1', 'HTTP/1.0'),
    200,
  ],
  'version 1.2': [changed('HTTP/1.1', 'HTTP/1.2'), 40000],
  'version 2.0': [changed('HTTP/1.1', 'HTTP/2.0'), 40000],
  'empty lines before the request': [`\r\n\r\n${post()}`, 200],
  'an empty Host': [changed('Host: test', 'Host:'), 200],
  'two hosts in one Host header': [changed('Host: test', 'Host: a, b'), 40000],
  'a header without a space after its colon': [changed('Content-Type: ', 'Content-Type:'), 200],
  'a control character in a header': [head('X: a\u0007b'), 40000],
  'lines that end in LF alone': [`${post()}`.replaceAll('\r\n', '\n'), 40000],
  'Content-Length and Transfer-Encoding': [
    `${head('Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n`,
    40000,
  ],
  'Transfer-Encoding and Content-Length': [
    `${head('Transfer-Encoding: chunked', 'Content-Length: 5')}0\r\n\r\n`,
    40000,
  ],
  'a Content-Length list': [`${head('Content-Length: 5, 5')}{"id"`, 40000],
  'a Content-Length beyond 64 bits': [head('Content-Length: 18446744073709551616'), 40000],
  'a Transfer-Encoding of two codings': [`${head('Transfer-Encoding: gzip, chunked')}0\r\n\r\n`, 40000],
  'chunked twice': [`${head('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')}0\r\n\r\n`, 40000],
  'an empty Transfer-Encoding': [head('Transfer-Encoding:'), 40000],
  'the preface of HTTP/2': ['PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 40000],
  'arbitrary bytes': [Buffer.from('00ff0a0d8090a0b0c0d0e0f0', 'hex'), 40000],
  '100 headers': [withHeaders(100), 200],
  '101 headers': [withHeaders(101), 43101],
  '15 KiB of headers': [post(newPlant(), { X: 'x'.repeat(15_000) }), 200],
  '17 KiB of headers': [post(newPlant(), { X: 'x'.repeat(17_000) }), 43101],
  'an unterminated header': [`POST /plants HTTP/1.1\r\nX: ${'x'.repeat(1_000_000)}`, 43101],
  'an unterminated path': [`POST /${'x'.repeat(1_000_000)}`, 43101],
};

/** Compressed bodies with a wrong chunk size, sent after 100 Continue. */
const LATE_CHUNKS = ['x\r\n{}\r\n0\r\n\r\n', '-2\r\n{}\r\n0\r\n\r\n', '1\r\n{}\r\n0\r\n\r\n'];

/** Details that the interface does not settle, so they are not part of its contract. */
httpSuite('Details that the interface leaves open', () => {
  const server = sharedServer();
  const start = startInTest();

  for (const [what, [bytes, expected]] of Object.entries(REQUESTS)) {
    it(`responds with ${expected} to ${what}`, async () => {
      expect(outcome(await exchange(server().port, bytes))).to.equal(expected);
    });
  }

  for (const chunk of LATE_CHUNKS) {
    it(`rejects ${JSON.stringify(chunk)} as a compressed body sent after 100 Continue`, async () => {
      const client = await RawClient.connect(server().port);
      const headers = { 'Transfer-Encoding': 'chunked', 'Content-Encoding': 'gzip', Expect: '100-continue' };
      await client.send(postHead(headers)).readResponse();
      expect(outcome(await client.send(chunk).readResponse())).to.equal(40000);
      client.close();
    });
  }

  it('checks the headers of a request before its chunks', async () => {
    const bytes = post('x\r\n', { Authorization: '', 'Transfer-Encoding': 'chunked' });
    expect(await sendToEnd(server(), Buffer.concat([bytes, post()]))).to.deep.equal([40101]);
  });

  it('closes the connection after each malformed request and stores nothing', async () => {
    const malformed = Object.values(REQUESTS).filter(([, expected]) => expected === 40000);
    const own = await start();
    const outcomes = malformed.map(([bytes]) => sendToEnd(own, Buffer.concat([Buffer.from(bytes), post()])));
    expect(new Set((await Promise.all(outcomes)).map(String))).to.deep.equal(new Set(['40000']));
    expect(own.created).to.be.empty;
  });
});
