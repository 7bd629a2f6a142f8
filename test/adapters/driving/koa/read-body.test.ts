import { expect } from 'chai';
import { describe, it } from 'mocha';
import { newPlant } from '#contract/http/service.js';
import { Gate, httpServers, inChunks, post } from '../../../support/http-server.js';

describe('A body', () => {
  const start = httpServers();

  it('is rejected if there is no memory for its create, which is counted as announced, eight times its bytes', async () => {
    const body = newPlant({ tag: 'x'.repeat(800) });
    const small = newPlant({}, '1');
    const server = await start({ bodyLimitBytes: 1024, maxInFlightBytes: 8 * (body.length + small.length) });
    const slow = await server.connect(post('', { 'Content-Length': `${body.length}`, Expect: '100-continue' }));
    await slow.readResponse();
    const larger = post(newPlant({}, '12'));
    expect(await server.send(larger)).to.equal(50302);
    expect(await server.send(post(small)), 'what still fits').to.equal(200);
    expect(await slow.send(body).readResponse()).to.include({ outcome: 200 });
    expect(await server.send(larger), 'once the memory is released').to.equal(200);
    slow.close();
  });

  it('in chunks is counted as it arrives', async () => {
    const gate = new Gate();
    const [first = '', second = ''] = [4000, 1000].map((length) => newPlant({ tag: 'x'.repeat(length) }));
    const maxInFlightBytes = 8 * (first.length + 1000);
    const server = await start({ createPlant: gate.createPlant, maxInFlightBytes });
    const stored = server.send(inChunks(first));
    await gate.arrived;
    expect(server.inFlight).to.include({ bytes: 8 * first.length });
    expect(await server.send(inChunks(second))).to.equal(50302);
    gate.open();
    expect(await stored).to.equal(200);
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
    const inChunksOf = (size: number, length: number) => {
      const body = newPlant({ tag: 'x'.repeat(length) });
      const parts = body.match(RegExp(`.{1,${size}}`, 'g')) ?? [];
      const chunks = parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`);
      return post(`${chunks.join('')}0\r\n\r\n`, { 'Transfer-Encoding': 'chunked' });
    };
    expect(await server.send(inChunksOf(1, 5000))).to.equal(41301);
    expect(await server.send(inChunksOf(3, 5000))).to.equal(200);
    expect(await server.send(inChunksOf(100, 250_000))).to.equal(200);
    expect(server.inFlight).to.deep.equal({ requests: 0, bytes: 0 });
  });

  it('may have very small chunks after its rejection', async () => {
    const server = await start({ bodyLimitBytes: 3000 });
    const small = '1\r\nx\r\n'.repeat(10_000);
    const tooLarge = `bb9\r\n${' '.repeat(3001)}\r\n`;
    const client = await server.connect(post(tooLarge + small, { 'Transfer-Encoding': 'chunked' }));
    expect(await client.readResponse()).to.include({ outcome: 41301 });
    client.send(`${small}0\r\n\r\n`).send(post());
    expect(await client.readResponse()).to.include({ outcome: 200 });
    client.close();
  });

  it('of HTTP/1.0 is not preceded by 100 Continue', async () => {
    const server = await start();
    const create = post(undefined, { Expect: '100-continue' }).toString();
    expect(await server.send(create.replace('HTTP/1.1', 'HTTP/1.0'))).to.equal(200);
  });
});
