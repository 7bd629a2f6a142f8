import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { it } from 'mocha';
import { exchange } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import { create, newPlant, postHead, sharedService, verdict } from '../support.js';

const BODY_LIMIT_BYTES = 100_000;

/** Returns a plant of exactly this many bytes. */
const plantOfSize = (bytes: number) => newPlant({ name: 'x'.repeat(bytes - newPlant({ name: '' }).length) });

httpSuite('BODY_LIMIT', (start) => {
  const service = sharedService(start, { BODY_LIMIT: `${BODY_LIMIT_BYTES}` });

  it('is the maximum size of a body, after decompression if it is compressed', async () => {
    const gzip = { 'Content-Encoding': 'gzip' };
    for (const [bytes, expected] of [
      [BODY_LIMIT_BYTES, 200],
      [BODY_LIMIT_BYTES + 1, 41301],
    ] as const) {
      expect(verdict(await create(service(), plantOfSize(bytes)))).to.equal(expected);
      expect(verdict(await create(service(), gzipSync(plantOfSize(bytes)), gzip))).to.equal(expected);
    }
  });

  it('is in the error message', async () => {
    const response = await create(service(), plantOfSize(BODY_LIMIT_BYTES + 1));
    expect(response?.body).to.include(`${BODY_LIMIT_BYTES} bytes`);
  });

  for (const length of [`${BODY_LIMIT_BYTES + 1}`, '18446744073709551615']) {
    it(`applies to Content-Length: ${length} before the body arrives`, async () => {
      expect(verdict(await exchange(service().port, postHead({ 'Content-Length': length })))).to.equal(41301);
    });
  }

  it('applies to a compressed body whose Content-Length is far larger', async () => {
    const headers = { 'Content-Encoding': 'gzip', 'Content-Length': '1099511627776', Expect: '100-continue' };
    expect(verdict(await exchange(service().port, postHead(headers)))).to.equal(41301);
  });
});
