import { expect } from 'chai';
import { it } from 'mocha';
import { exchange } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import { create, newPlant, sharedService } from '../support.js';

const VALID = ['a', '7f1c2b9e-5a3d-4f60-9d8c-0123456789ab', 'Root:1-x', 'x.y_z-1:2', 'x'.repeat(128)];
const INVALID = ['', 'x'.repeat(129), 'a b', 'a,b', 'a"b', 'a<b>', 'a=b', 'a/b', 'a\tb', 'Gr\xfcn', '{"a":1}'];

/** The id that links a response to its log lines. */
httpSuite('X-Request-Id', (start) => {
  const service = sharedService(start);
  const readId = async (body: string, headers: Record<string, string>) =>
    (await create(service(), body, headers))?.headers['x-request-id'];

  it('is generated for each request without one', async () => {
    const ids = [await readId(newPlant(), {}), await readId('{', {}), await readId(newPlant(), { Authorization: '' })];
    for (const id of ids) expect(id).to.match(/^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
    expect(new Set(ids)).to.have.property('size', ids.length);
  });

  for (const id of VALID) {
    it(`is echoed: ${id}`, async () => {
      expect(await readId(newPlant(), { 'X-Request-Id': id })).to.equal(id);
      expect(await readId('{', { 'X-Request-Id': id }), 'on a rejection').to.equal(id);
    });
  }

  for (const id of INVALID) {
    it(`is replaced if it is ${JSON.stringify(id)}`, async () => {
      expect(await readId(newPlant(), { 'X-Request-Id': id })).to.match(/^[\da-f-]{36}$/);
    });
  }

  it('is replaced if there are two', async () => {
    expect(await readId(newPlant(), { 'X-Request-Id': 'a', 'x-request-id': 'b' })).to.match(/^[\da-f-]{36}$/);
  });

  it('is on responses to malformed requests', async () => {
    const response = await exchange(service().port, 'garbage\r\n\r\n');
    expect(response?.headers['x-request-id']).to.match(/^[\da-f-]{36}$/);
  });
});
