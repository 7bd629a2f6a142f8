import Router from '@koa/router';
import { expect } from 'chai';
import Koa from 'koa';
import { it } from 'mocha';
import { createApp } from '../../../../adapters/driving/koa/index.js';
import { request } from '../../../support/raw-http.js';
import { APP_OPTIONS, HEADERS, httpSuite, newPlant, post, TOKEN } from './support.js';

const changed = (from: string, to: string) => `${post()}`.replace(from, to);
/** Returns a create with this number of headers; `post` sends four. */
const withHeaders = (count: number) =>
  post(newPlant(), Object.fromEntries(Array.from({ length: count - 4 }, (_, index) => [`X-${index}`, 'y'])));
const authorized = (authorization: string) => post(newPlant(), { Authorization: authorization });
/** Returns a create with this framing and body. */
const framed = (framing: string, body = '0\r\n\r\n') =>
  `${post('')}`.replace(/\r\n\r\n$/, `\r\n${framing}\r\n\r\n${body}`);

const REQUESTS: Readonly<Record<string, readonly [bytes: string | Uint8Array, outcome: number]>> = {
  // Credentials
  'a tab after Bearer': [authorized(`Bearer\t${TOKEN}`), 40101],
  'a non-ASCII token': [authorized('Bearer t\xf6ken'), 40101],
  'two Authorization headers': [post(newPlant(), { authorization: `Bearer ${TOKEN}` }), 40101],
  // Media types and encodings
  'the same charset twice': [
    post(newPlant(), { 'Content-Type': 'application/json;charset=utf-8;Charset = utf-8' }),
    41501,
  ],
  // Targets
  'a target with a truncated IPv6 address': [request('POST http://[::1/x', HEADERS), 40401],
  'a path with a truncated percent escape': [request('POST /plants%', HEADERS), 40401],
  'a URL inside the path': [changed('/plants', '/plantshttp://test'), 40401],
  'a fragment': [changed('/plants', '/plants#x'), 40401],
  'the target *': [request('OPTIONS *', HEADERS), 40401],
  'non-ASCII bytes in the path': [Buffer.from(changed('/plants', '/plants?\xe9'), 'latin1'), 40000],
  // The order of checks around Expect and chunks
  'another method with an unknown Expect': [request('PUT /plants', { ...HEADERS, Expect: 'x' }), 40501],
  'a wrong token with an unknown Expect': [post('', { Authorization: 'Bearer wrong', Expect: 'x' }), 40102],
  'an unknown Expect with another media type': [post('{}', { Expect: 'x', 'Content-Type': 'text/plain' }), 41701],
  'a malformed request with an unknown path': ['PUT /plant HTTP/1.1\r\nExpect: x\r\n\r\n', 40000],
  'no credential with a bad chunk': [post('x\r\n', { Authorization: '', 'Transfer-Encoding': 'chunked' }), 40101],
  // Lenient and strict HTTP
  'HTTP/1.0 without Host': [changed('HTTP/1.1', 'HTTP/1.0').replace('Host: test\r\n', ''), 200],
  'HTTP/1.0 with chunks': [framed('Transfer-Encoding: chunked').replace('/1.1', '/1.0'), 40000],
  'version 1.2': [changed('HTTP/1.1', 'HTTP/1.2'), 40000],
  'an IPv6 address as Host': [changed('Host: test', 'Host: [fd00::1]:80'), 200],
  'an empty Host': [changed('Host: test', 'Host:'), 200],
  'Content-Length and Transfer-Encoding': [framed('Content-Length: 5\r\nTransfer-Encoding: chunked'), 40000],
  'a Transfer-Encoding of two codings': [framed('Transfer-Encoding: gzip, chunked'), 40000],
  'an empty Transfer-Encoding': [framed('Transfer-Encoding:', ''), 40000],
  '100 headers': [withHeaders(100), 200],
  '101 headers': [withHeaders(101), 43101],
};

// These details are not part of the HTTP contract.
httpSuite('In details that the interface leaves open, the server', {}, ({ server, start }) => {
  for (const [what, [bytes, expected]] of Object.entries(REQUESTS)) {
    it(`responds with ${expected} to ${what}`, async () => {
      expect(await server().send(bytes)).to.equal(expected);
    });
  }

  it('responds in the same way if its app is mounted in one whose router has other routes', async () => {
    const outer = new Koa().use(new Router().get('/{*any}', (_, next) => next()).routes());
    for (const middleware of createApp(APP_OPTIONS).middleware) outer.use(middleware);
    const mounted = await start({ listener: outer.callback() });
    expect(await mounted.send(request('PUT /nothing'))).to.equal(40401);
    const rejected = await mounted.exchange(request('PUT /plants'));
    expect(rejected?.headers).to.include({ allow: 'POST' });
  });
});
