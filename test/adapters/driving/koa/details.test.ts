import { expect } from 'chai';
import Koa from 'koa';
import { it } from 'mocha';
import { createApp } from '../../../../adapters/driving/koa/index.js';
import { request } from '../../../support/raw-http.js';
import { APP_OPTIONS, HEADERS, httpSuite, newPlant, post, TOKEN } from './support.js';

const changed = (from: string, to: string) => `${post()}`.replace(from, to);
const authorized = (authorization: string) => post(newPlant(), { Authorization: authorization });

const REQUESTS: Readonly<Record<string, readonly [bytes: string | Uint8Array, outcome: number]>> = {
  'a tab after Bearer': [authorized(`Bearer\t${TOKEN}`), 40101],
  'a non-ASCII token': [authorized('Bearer t\xf6ken'), 40101],
  'a path with a truncated percent escape': [request('POST /plants%', HEADERS), 40401],
  'a URL inside the path': [changed('/plants', '/plantshttp://test'), 40401],
  'non-ASCII bytes in the path': [Buffer.from(changed('/plants', '/plants?\xe9'), 'latin1'), 40000],
  'an unknown Expect with another media type': [post('{}', { Expect: 'x', 'Content-Type': 'text/plain' }), 41701],
  // It gets no 100 Continue.
  'HTTP/1.0 with Expect': [`${post(newPlant(), { Expect: '100-continue' })}`.replace('/1.1', '/1.0'), 200],
  'a request without Host': [changed('Host: test\r\n', ''), 200],
};

// These details are not part of the HTTP contract.
httpSuite('In details that the interface leaves open, the server', {}, ({ server, start }) => {
  for (const [what, [bytes, expected]] of Object.entries(REQUESTS)) {
    it(`responds with ${expected} to ${what}`, async () => {
      expect(await server().send(bytes)).to.equal(expected);
    });
  }

  it('responds in the same way if the middleware of its app is used in another one', async () => {
    const outer = new Koa();
    for (const middleware of createApp(APP_OPTIONS).middleware) outer.use(middleware);
    const mounted = await start({ listener: outer.callback() });
    expect(await mounted.send(request('PUT /nothing'))).to.equal(40401);
    expect((await mounted.exchange(request('PUT /plants')))?.headers).to.include({ allow: 'POST' });
  });
});
