import { expect } from 'chai';
import { it } from 'mocha';
import { exchange, request } from '../../../support/raw-http.js';
import { httpSuite } from '../http-suite.js';
import { HEADERS, newPlant, startInTest, verdict } from '../support.js';

const TARGETS = {
  '/a.b/~garden/plants': 200,
  '/a.b/~garden/plants?x': 200,
  'http://test/a.b/~garden/plants': 200,
  '/plants': 40401,
  '/a.b/plants': 40401,
  '/axb/~garden/plants': 40401,
  '/A.B/~garden/plants': 40401,
  '/a.b/~garden//plants': 40401,
  '//a.b/~garden/plants': 40401,
  '/openapi.json': 40401,
};

httpSuite('BASE_PATH', (start) => {
  const startOne = startInTest(start);

  it('is a prefix of every path', async () => {
    const { port } = await startOne({ BASE_PATH: '/a.b/~garden' });
    for (const [target, expected] of Object.entries(TARGETS)) {
      const response = await exchange(port, request(`POST ${target}`, HEADERS, newPlant()));
      expect(verdict(response), target).to.equal(expected);
    }
  });
});
