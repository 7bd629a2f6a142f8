import { buffer } from 'node:stream/consumers';
import { createKoaApp } from '@plant-store/adapters/koa';
import { expect } from 'chai';
import Koa from 'koa';
import bodyParser from 'koa-bodyparser';
import mount from 'koa-mount';
import { describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { recordLog } from '../../../support/record-log.js';
import * as support from '../test-server.js';

const { inChunks, post } = support;

describe('A body', () => {
  const start = support.httpServers();

  it('is rejected if there is no memory for its create, which is counted as announced, eight times its bytes', async () => {
    const body = newPlant({ tag: 'x'.repeat(800) });
    const small = newPlant({}, '1');
    const server = await start({ bodyLimitBytes: 1024, maxInFlightBytes: 8 * (body.length + small.length) });
    const slow = await server.connect(post('', { 'Content-Length': `${body.length}` }));
    const larger = post(newPlant({}, '12'));
    expect(await server.send(larger)).to.equal(50302);
    expect(await server.send(post(small)), 'what still fits').to.equal(200);
    expect(await slow.send(body).readResponse()).to.include({ outcome: 200 });
    expect(await server.send(larger), 'once the memory is released').to.equal(200);
  });

  it('in chunks is counted as it arrives', async () => {
    const [first, second] = [newPlant({ tag: 'x'.repeat(4000) }), newPlant({ tag: 'x'.repeat(1000) })];
    const server = await start({ maxInFlightBytes: 8 * (first.length + 1000) });
    const bytes = inChunks(first);
    const unfinished = await server.connect(bytes.subarray(0, -1));
    expect(server.inFlight).to.include({ bytes: 8 * first.length });
    expect(await server.send(inChunks(second))).to.equal(50302);
    expect(await unfinished.send(bytes.subarray(-1)).readResponse()).to.include({ outcome: 200 });
    expect(await server.send(inChunks(second))).to.equal(200);
  });

  it('is accepted while no other is in flight, whatever memory its create takes', async () => {
    const server = await start({ bodyLimitBytes: 1024, maxInFlightBytes: 1024 });
    const body = newPlant({ tag: 'x'.repeat(800) });
    expect(await server.send(post(body))).to.equal(200);
    expect(await server.send(inChunks(body))).to.equal(200);
  });

  it('is rejected if it consists of very small chunks', async () => {
    const server = await start();
    for (const [size, length, outcome] of [
      [1, 5000, 41301],
      [3, 5000, 200],
      [100, 250_000, 200],
    ] as const) {
      const parts = newPlant({ tag: 'x'.repeat(length) }).match(RegExp(`.{1,${size}}`, 'g')) ?? [];
      const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
      const bytes = post(`${chunks.join('')}0\r\n\r\n`, { 'Transfer-Encoding': 'chunked' });
      expect(await server.send(bytes), `of ${size} bytes`).to.equal(outcome);
    }
    expect(server.inFlight).to.deep.equal({ requests: 0, bytes: 0 });
  });
});

describe('A body behind another parser', () => {
  const start = support.httpServers();

  /** Hands the app requests whose body has been read, and what was kept of it. */
  const readBefore = (keep: (bytes: Buffer) => object): support.CreateListener => {
    return (options) => {
      const app = createKoaApp(options).callback();
      return async (req, res) => app(Object.assign(req, keep(await buffer(req))), res);
    };
  };
  const mountBehindParser: support.CreateListener = (options) =>
    new Koa()
      .use(bodyParser())
      .use(mount(createKoaApp(options)))
      .callback();

  for (const [title, createListener] of [
    ['that keeps its bytes is read exactly', readBefore((rawBody) => ({ rawBody }))],
    ['that keeps its text is read exactly', readBefore((bytes) => ({ body: `${bytes}` }))],
    ['of an outer Koa app is read exactly', mountBehindParser],
  ] as const) {
    it(title, async () => {
      const server = await start({ bodyLimitBytes: 100 }, createListener);
      const response = await server.exchange(post('{"id":1,"name":"é漢🌱"}'));
      expect(response).to.include({ status: 200, body: '{"name":"é漢🌱"}' });
      // JSON.parse would round this id to an integer.
      expect(await server.send(post('{"id":9007199254740992.5,"name":"x"}'))).to.equal(40002);
      expect(await server.send(post(newPlant({ name: 'x'.repeat(100) })))).to.equal(41301);
      expect(server.inFlight.bytes).to.equal(0);
    });
  }

  it('that keeps nothing is rejected, and names that parser', async () => {
    const { lines, log } = recordLog();
    const keepNothing = readBefore(() => ({}));
    const response = await (await start({ log }, keepNothing)).exchange(post());
    expect(response).to.include({ outcome: 40001 }).and.property('body').that.includes('Another body parser');
    expect(lines.map(({ message }) => message)).to.deep.equal(['request failed', 'request']);
  });
});
