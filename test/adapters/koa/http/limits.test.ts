import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { it } from 'mocha';
import { MemoryPlantRepository } from '../../../../adapters/memory/index.js';
import { services } from '../../../../composition/container.js';
import { CreatePlant } from '../../../../core/index.js';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import {
  create,
  expectRetryAfter,
  Gate,
  newPlant,
  post,
  postHead,
  startInTest,
  verdict,
  waitUntilRead,
} from '../support.js';

/** Limits on create requests in flight. */
httpSuite('create requests in flight', (start) => {
  const startOne = startInTest(start);

  it('are rejected immediately beyond MAX_PENDING, with Retry-After, until a permit is free', async () => {
    const gate = new Gate();
    const service = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
    const first = create(service);
    await gate.arrived;
    const rejected = await create(service);
    expect(verdict(rejected)).to.equal(50302);
    expectRetryAfter(rejected);
    gate.open();
    expect(verdict(await first)).to.equal(200);
    expect(verdict(await create(service))).to.equal(200);
  });

  it('release their permit if the use case throws instead of returning a promise', async () => {
    const service = await startOne({ MAX_PENDING: '1' }, (container) => {
      const execute = () => {
        throw new Error('no promise');
      };
      container
        .rebind(services.CreatePlant)
        .toConstantValue(Object.assign(new CreatePlant(new MemoryPlantRepository()), { execute }));
    });
    for (let attempt = 0; attempt < 2; attempt++) expect(verdict(await create(service))).to.equal(50001);
  });

  it('are delayed if the client retries on the same connection before Retry-After elapses', async function () {
    // On a busy machine, the delay may end before the permit is free.
    this.retries(3);
    const gate = new Gate();
    const service = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
    const first = create(service);
    await gate.arrived;
    const impatient = await RawClient.connect(service.port);
    expect(verdict(await impatient.send(post(newPlant())).readResponse())).to.equal(50302);
    const second = impatient.send(post(newPlant())).readResponse();
    await waitUntilRead(service);
    gate.open();
    expect(verdict(await first)).to.equal(200);
    expect(verdict(await second), 'a permit is free by then').to.equal(200);
    impatient.close();
  });

  it('wait for a delayed one before them on the same connection', async function () {
    // As above.
    this.retries(3);
    const gate = new Gate();
    const service = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
    const first = create(service);
    await gate.arrived;
    const impatient = await RawClient.connect(service.port);
    expect(verdict(await impatient.send(post()).readResponse())).to.equal(50302);
    const startedAt = performance.now();
    const rest = impatient.send(Buffer.concat([post(), post(), post(newPlant(), { Connection: 'close' })]));
    expect(verdict(await rest.readResponse())).to.equal(50302);
    expect(performance.now() - startedAt, 'ms of delay').to.be.at.least(400);
    gate.open();
    expect(verdict(await first)).to.equal(200);
    expect((await rest.readAllResponses()).map(verdict)).to.deep.equal([200, 200]);
  });

  it('are accepted up to exactly MAX_PENDING', async () => {
    const gate = new Gate();
    const service = await startOne({ MAX_PENDING: '3' }, gate.beforeAdd());
    const responses = Array.from({ length: 10 }, () => create(service));
    let responded = 0;
    await new Promise<void>((resolve) => {
      for (const response of responses) response.then(() => ++responded === 7 && resolve());
    });
    gate.open();
    const verdicts = (await Promise.all(responses)).map(verdict);
    expect(verdicts.toSorted()).to.deep.equal([...Array(3).fill(200), ...Array(7).fill(50302)]);
  });

  it('include those whose body has not arrived', async () => {
    const service = await startOne({ MAX_PENDING: '1' });
    const slow = await RawClient.connect(service.port);
    const body = newPlant();
    await slow.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).readResponse();
    expect(verdict(await create(service))).to.equal(50302);
    expect(verdict(await slow.send(body).readResponse())).to.equal(200);
    expect(verdict(await create(service))).to.equal(200);
    slow.close();
  });

  it('do not include requests that are rejected for their credential, path or method', async () => {
    const gate = new Gate();
    const service = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
    const first = create(service);
    await gate.arrived;
    expect(verdict(await create(service, newPlant(), { Authorization: '' }))).to.equal(40101);
    expect(verdict(await create(service, newPlant(), { Authorization: 'Bearer wrong' }))).to.equal(40102);
    expect(verdict(await exchange(service.port, request('POST /plant')))).to.equal(40401);
    expect(verdict(await exchange(service.port, request('GET /plants')))).to.equal(40501);
    gate.open();
    await first;
  });

  it('release their permit after a rejection because of their headers or body', async () => {
    const service = await startOne({ MAX_PENDING: '1', BODY_LIMIT: '1kb' });
    const rejections: [Buffer, number][] = [
      [post(newPlant(), { Expect: 'x' }), 41701],
      [post(newPlant(), { 'Content-Type': 'text/plain' }), 41501],
      [postHead({ 'Content-Length': '2000' }), 41301],
      [post('x'.repeat(2000), { 'Content-Encoding': 'gzip' }), 40001],
      [post('{'), 40001],
      [post('{}'), 40002],
      [post(newPlant({ name: '\0' })), 40003],
      [post('z\r\n', { 'Transfer-Encoding': 'chunked' }), 40000],
    ];
    for (const [bytes, error] of rejections) {
      expect(verdict(await exchange(service.port, bytes))).to.equal(error);
      expect(verdict(await create(service)), `after ${error}`).to.equal(200);
    }
  });

  for (const coding of ['identity', 'gzip']) {
    it(`release their permit when the client disconnects during authentication, before a body in ${coding}`, async () => {
      const gate = new Gate();
      const service = await startOne({ MAX_PENDING: '1' }, gate.beforeFirstVerify());
      const client = await RawClient.connect(service.port);
      client.send(postHead({ 'Content-Encoding': coding, 'Content-Length': '100' }));
      await gate.arrived;
      client.socket.resetAndDestroy();
      await waitUntilRead(service);
      gate.open();
      expect(verdict(await create(service))).to.equal(200);
    });
  }

  it('are rejected beyond MAX_PENDING_BYTES, which are reserved before the body arrives', async () => {
    const service = await startOne({ BODY_LIMIT: '1kb', MAX_PENDING_BYTES: '1kb' });
    const slow = await RawClient.connect(service.port);
    const body = newPlant({ tag: 'x'.repeat(800) });
    await slow.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).readResponse();
    slow.send(body.slice(0, -1));
    const bytesFree = 1024 - body.length + 1;
    const large = newPlant({ tag: 'x'.repeat(bytesFree) });
    const rejected = await retryUntilRejected(() => create(service, newPlant({ tag: 'x'.repeat(bytesFree) })));
    expectRetryAfter(rejected);
    expect(verdict(await create(service)), 'a small one still fits').to.equal(200);
    expect(verdict(await slow.send(body.slice(-1)).readResponse())).to.equal(200);
    expect(verdict(await create(service, large)), 'once the memory is released').to.equal(200);
    slow.close();
  });

  it('reserve BODY_LIMIT for a compressed body', async () => {
    const gate = new Gate();
    const service = await startOne({ BODY_LIMIT: '10kb', MAX_PENDING_BYTES: '10kb' }, gate.beforeAdd());
    const compressed = () =>
      create(service, gzipSync(newPlant({ tag: 'x'.repeat(4000) })), { 'Content-Encoding': 'gzip' });
    const first = compressed();
    await gate.arrived;
    expect(verdict(await compressed())).to.equal(50302);
    gate.open();
    expect(verdict(await first)).to.equal(200);
  });

  it('release their memory when the client disconnects', async () => {
    const service = await startOne({ BODY_LIMIT: '1kb', MAX_PENDING_BYTES: '1kb' });
    const client = await RawClient.connect(service.port);
    await client.send(postHead({ 'Content-Length': '1000', Expect: '100-continue' })).readResponse();
    client.send('x'.repeat(900));
    await retryUntilRejected(() => create(service, newPlant({ tag: 'x'.repeat(300) })));
    client.socket.resetAndDestroy();
    await waitUntilRead(service);
    expect(verdict(await create(service, newPlant({ tag: 'x'.repeat(300) })))).to.equal(200);
  });
});

/** Retries until the service is full. */
async function retryUntilRejected(send: () => ReturnType<typeof create>): ReturnType<typeof create> {
  for (;;) {
    const response = await send();
    if (verdict(response) === 50302) return response;
  }
}
