import { expect } from 'chai';
import { it } from 'mocha';
import { findSlow, hostile } from '../../../support/processor-time.js';
import { request } from '../../../support/raw-http.js';
import { HEADERS, httpSuite } from './support.js';

const ROUTES = {
  'GET /': {},
  'HEAD /docs': {},
  'HEAD /docs/swagger-ui-bundle.js': { 'If-None-Match': '"x"' },
  'GET /openapi.json': {},
  'POST /plants': HEADERS,
  'POST /plants?without-a-credential': {},
  'GET /plants': {},
  'GET /nowhere': {},
};

/** Headers on which a library's parser takes, or took, long. */
const HOSTILE = [
  ['Accept', hostile(',', '"')],
  ['Accept', hostile('W/"a",')],
  ['Host', hostile('o', '@xn--')],
  ['Host', hostile('\xe9\xfc', '@')],
  ['If-None-Match', hostile('",')],
  ['If-None-Match', hostile(', ')],
  ['Cache-Control', hostile(' ', ',')],
  ['Cache-Control', hostile('no-cache ')],
  ['Content-Type', hostile(';', 'application/json')],
  ['Content-Encoding', hostile(', ')],
  ['Authorization', hostile(' ', 'Bearer')],
  ['X-Request-Id', hostile('a')],
] as const;

httpSuite('The processor time of a request', { docs: true }, ({ server }) => {
  it('is in proportion to its bytes, whatever its path and headers contain', async () => {
    const requests = new Map([['a long path', request(`GET /${hostile('%2e/')}`)]]);
    for (const [line, headers] of Object.entries(ROUTES))
      for (const [name, value] of HOSTILE)
        requests.set(`${line} with ${name}: ${value.slice(0, 20)}…`, request(line, { ...headers, [name]: value }));
    expect(await findSlow(server().port, requests)).to.deep.equal([]);
  });
});
