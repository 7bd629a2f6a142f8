import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { apiErrors } from '../../adapters/driving/api/index.js';
import { inRepository } from '../support/paths.js';
import { portOf } from '../support/port.js';
import { readPlants } from '../support/read-plants.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { skipUnlessInstalled } from '../support/skip-unless.js';

const VISITORS = ['light', 'dark', 'phone-light', 'phone-dark', 'keyboard'];

const LIGHT = { className: '', background: 'rgba(0, 0, 0, 0)', overflowPx: 0 };
const DARK = { className: 'dark-mode', background: 'rgb(28, 32, 34)', overflowPx: 0 };

/** Chromium logs every error response; two of the three responses are expected conflicts. */
const CONFLICT = 'error: Failed to load resource: the server responded with a status of 409 (Conflict)';

describe('The documentation page in Chromium, behind a proxy that strips a prefix before BASE_PATH,', () => {
  let service: TestService;
  let visits: Readonly<Record<string, unknown>>;
  const proxy = createServer((req, res) => {
    const { method, headers, url = '' } = req;
    if (!url.startsWith('/shop/')) return res.writeHead(404).end();
    const path = url.slice('/shop'.length);
    const inner = request({ port: service.port, path, method, headers }, (response) => {
      res.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(res);
    });
    return req.pipe(inner);
  });

  before(async function () {
    this.timeout(300_000);
    skipUnlessInstalled(this, 'chromium', '--version');
    service = await startService({ BASE_PATH: '/garden' });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${portOf(proxy)}/shop/garden/`;
    const program = [inRepository('test/interop/visit-page.js'), url, TOKEN];
    const { stdout } = await promisify(execFile)(process.execPath, program);
    visits = JSON.parse(stdout);
  });
  after(async () => {
    proxy.close();
    await service?.stop();
  });

  for (const visitor of VISITORS) {
    const isDark = !visitor.includes('light');
    it(`creates a plant, shows both conflicts, fits the screen and keeps the token to itself (${visitor})`, () => {
      expect(visits[visitor]).to.deep.equal({
        responses: [
          [200, { name: 'Monstera', tag: 'indoor' }],
          [409, apiErrors.alreadyStored],
          [409, apiErrors.idTaken],
        ],
        // Of the system's colour scheme, and after it has changed.
        appearances: isDark ? [DARK, LIGHT] : [LIGHT, DARK],
        storesToken: false,
        isLoggedOutAfterReload: true,
        requestsToOtherHosts: [],
        violations: [],
        withoutFocusIndicator: [],
        consoleMessages: [CONFLICT, CONFLICT],
      });
    });
  }

  it('stores the ids exactly as typed', async () => {
    // 2⁵³ + 1 and the next odd numbers, which no JavaScript number can represent.
    const ids = VISITORS.map((_, index) => 2n ** 53n + 1n + 2n * BigInt(index));
    expect((await readPlants(service.repository.readAll())).map(({ id }) => id)).to.deep.equal(ids);
  });
});
