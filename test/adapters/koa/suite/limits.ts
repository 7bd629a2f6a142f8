import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { exchange, RawClient, request } from '../../../support/raw-http.js';
import {
  create,
  expectRetryAfter,
  Gate,
  newPlant,
  post,
  postHead,
  type Start,
  servedMeanwhile,
  startInTest,
  verdict,
} from '../support.js';

/** How much the service holds at once. */
export function limits(start: Start): void {
  describe('work under way', () => {
    const startOne = startInTest(start);

    it('is refused beyond MAX_PENDING at once, with Retry-After, and served when there is a place again', async () => {
      const gate = new Gate();
      const one = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
      const first = create(one);
      await gate.arrived;
      const refused = await create(one);
      expect(verdict(refused)).to.equal(50302);
      expectRetryAfter(refused);
      gate.open();
      expect(verdict(await first)).to.equal(200);
      expect(verdict(await create(one))).to.equal(200);
    });

    it('holds back for a moment who comes again on the same connection before it should', async () => {
      const gate = new Gate();
      const one = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
      const first = create(one);
      await gate.arrived;
      const hasty = await RawClient.connect(one.port);
      expect(verdict(await hasty.send(post(newPlant())).answer())).to.equal(50302);
      const second = hasty.send(post(newPlant())).answer();
      await servedMeanwhile(one);
      gate.open();
      expect(verdict(await first)).to.equal(200);
      expect(verdict(await second), 'by then there was a place').to.equal(200);
      hasty.close();
    });

    it('closes the connection of who sends more behind one that is held back', async () => {
      const gate = new Gate();
      const one = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
      const first = create(one);
      await gate.arrived;
      const bytes = Buffer.concat(Array.from({ length: 5 }, () => Buffer.from(post(newPlant()))));
      const hasty = await RawClient.connect(one.port);
      expect(verdict(await hasty.send(post(newPlant())).answer())).to.equal(50302);
      expect((await hasty.send(bytes).answersToEnd()).map(verdict)).to.deep.equal([50302, 50302]);
      gate.open();
      expect(verdict(await first)).to.equal(200);
    });

    it('has as many places as MAX_PENDING says', async () => {
      const gate = new Gate();
      const one = await startOne({ MAX_PENDING: '3' }, gate.beforeAdd());
      const answers = Array.from({ length: 10 }, () => create(one));
      let answered = 0;
      await new Promise<void>((resolve) => {
        for (const answer of answers) answer.then(() => ++answered === 7 && resolve());
      });
      gate.open();
      const verdicts = (await Promise.all(answers)).map(verdict);
      expect(verdicts.toSorted()).to.deep.equal([...Array(3).fill(200), ...Array(7).fill(50302)]);
    });

    it('includes creates whose body is still coming', async () => {
      const one = await startOne({ MAX_PENDING: '1' });
      const slow = await RawClient.connect(one.port);
      const body = newPlant();
      await slow.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).answer();
      expect(verdict(await create(one))).to.equal(50302);
      expect(verdict(await slow.send(body).answer())).to.equal(200);
      expect(verdict(await create(one))).to.equal(200);
      slow.close();
    });

    it('does not include what is refused for its credential, path or method', async () => {
      const gate = new Gate();
      const one = await startOne({ MAX_PENDING: '1' }, gate.beforeAdd());
      const first = create(one);
      await gate.arrived;
      expect(verdict(await create(one, newPlant(), { Authorization: '' }))).to.equal(40101);
      expect(verdict(await create(one, newPlant(), { Authorization: 'Bearer wrong' }))).to.equal(40102);
      expect(verdict(await exchange(one.port, request('GET /plants')))).to.equal(40501);
      gate.open();
      await first;
    });

    it('gives its place back after every kind of refusal', async () => {
      const one = await startOne({ MAX_PENDING: '1', BODY_LIMIT: '1kb' });
      const refusals: [Buffer, number][] = [
        [post(newPlant(), { Expect: 'x' }), 41701],
        [post(newPlant(), { 'Content-Type': 'text/plain' }), 41501],
        [postHead({ 'Content-Length': '2000' }), 41301],
        [post('x'.repeat(2000), { 'Content-Encoding': 'gzip' }), 40001],
        [post('{'), 40001],
        [post('{}'), 40002],
        [post(newPlant({ name: '\0' })), 40003],
        [post('z\r\n', { 'Transfer-Encoding': 'chunked' }), 40000],
      ];
      for (const [bytes, error] of refusals) {
        expect(verdict(await exchange(one.port, bytes))).to.equal(error);
        expect(verdict(await create(one)), `after ${error}`).to.equal(200);
      }
    });

    for (const coding of ['identity', 'gzip']) {
      it(`gives the place back of a client that leaves, with a body in ${coding} to come, while its token is checked`, async () => {
        const gate = new Gate();
        const one = await startOne({ MAX_PENDING: '1' }, gate.beforeFirstVerify());
        const client = await RawClient.connect(one.port);
        client.send(postHead({ 'Content-Encoding': coding, 'Content-Length': '100' }));
        await gate.arrived;
        client.socket.resetAndDestroy();
        await servedMeanwhile(one);
        gate.open();
        expect(verdict(await create(one))).to.equal(200);
      });
    }

    it('is refused beyond MAX_PENDING_BYTES, counted from the first byte of a body on', async () => {
      const one = await startOne({ BODY_LIMIT: '1kb', MAX_PENDING_BYTES: '1kb' });
      const slow = await RawClient.connect(one.port);
      const body = newPlant({ tag: 'x'.repeat(800) });
      await slow.send(postHead({ 'Content-Length': `${body.length}`, Expect: '100-continue' })).answer();
      slow.send(body.slice(0, -1));
      const bytesFree = 1024 - body.length + 1;
      const large = newPlant({ tag: 'x'.repeat(bytesFree) });
      const refused = await untilRefused(() => create(one, newPlant({ tag: 'x'.repeat(bytesFree) })));
      expectRetryAfter(refused);
      expect(verdict(await create(one)), 'a small one still fits').to.equal(200);
      expect(verdict(await slow.send(body.slice(-1)).answer())).to.equal(200);
      expect(verdict(await create(one, large)), 'once the bytes are given back').to.equal(200);
      slow.close();
    });

    it('counts bytes as they are inflated', async () => {
      const gate = new Gate();
      const one = await startOne({ BODY_LIMIT: '10kb', MAX_PENDING_BYTES: '10kb' }, gate.beforeAdd());
      const compressed = () =>
        create(one, gzipSync(newPlant({ tag: 'x'.repeat(6000) })), { 'Content-Encoding': 'gzip' });
      const first = compressed();
      await gate.arrived;
      expect(verdict(await compressed())).to.equal(50302);
      gate.open();
      expect(verdict(await first)).to.equal(200);
    });

    it('gives back the bytes of a client that leaves', async () => {
      const one = await startOne({ BODY_LIMIT: '1kb', MAX_PENDING_BYTES: '1kb' });
      const leaver = await RawClient.connect(one.port);
      await leaver.send(postHead({ 'Content-Length': '1000', Expect: '100-continue' })).answer();
      leaver.send('x'.repeat(900));
      await untilRefused(() => create(one, newPlant({ tag: 'x'.repeat(300) })));
      leaver.socket.resetAndDestroy();
      await servedMeanwhile(one);
      expect(verdict(await create(one, newPlant({ tag: 'x'.repeat(300) })))).to.equal(200);
    });
  });
}

/** Sends until the service has read as much of another client's body as it takes to be full. */
async function untilRefused(send: () => ReturnType<typeof create>): ReturnType<typeof create> {
  for (;;) {
    const answer = await send();
    if (verdict(answer) === 50302) return answer;
  }
}
