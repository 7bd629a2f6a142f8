import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { inRepository } from '../support/paths.js';
import { portOf } from '../support/port.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { skipUnless, skipUnlessInstalled } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { skipUnlessInteropInstalled } from './interop.js';

/** The observations of one visit, as printed by `visit-page.js`. */
interface Visit {
  readonly visitor: string;
  readonly colorScheme: string;
  readonly id: string;
  readonly responses: readonly { readonly status: number; readonly shown: Readonly<Record<string, unknown>> }[];
  readonly accessibilityViolations?: readonly string[];
  /** Elements without a visible focus indicator. */
  readonly withoutFocusIndicator: readonly string[];
  readonly consoleMessages: readonly string[];
  readonly requests: readonly string[];
  readonly appearance: object;
  readonly changedAppearance: object;
  readonly storesToken: boolean;
  readonly isLoggedOutAfterReload: boolean;
}

/** Returns the handler of a reverse proxy that strips a prefix. */
function stripPrefix(prefix: string, port: number) {
  return (req: IncomingMessage, res: ServerResponse): void => {
    const { method, headers, url = '' } = req;
    if (!url.startsWith(`${prefix}/`)) {
      res.writeHead(404).end();
      return;
    }
    const inner = request({ port, path: url.slice(prefix.length), method, headers }, (response) => {
      res.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(res);
    });
    req.pipe(inner);
  };
}

const VISITORS = ['light', 'dark', 'phone-light', 'phone-dark', 'keyboard'];

const APPEARANCES: Readonly<Record<string, object>> = {
  light: { className: '', background: 'rgba(0, 0, 0, 0)', overflowPx: 0 },
  dark: { className: 'dark-mode', background: 'rgb(28, 32, 34)', overflowPx: 0 },
};

/** Chromium logs every error response; two of the three responses are expected conflicts. */
const CONFLICT = 'error: Failed to load resource: the server responded with a status of 409 (Conflict)';

/** Rules of axe that Swagger UI itself violates. */
const SWAGGER_UI_VIOLATIONS = ['heading-order', 'label-content-name-mismatch', 'nested-interactive', 'region'];

describe('The documentation page in Chromium, behind a proxy that strips a prefix before BASE_PATH,', function () {
  this.timeout(180_000);
  const folder = temporaryFolder();
  const proxy = createServer((req, res) => forward(req, res));
  let service: TestService | undefined;
  let forward: (req: IncomingMessage, res: ServerResponse) => void = () => {};
  let base = '';
  let visits: readonly Visit[] = [];
  const visitOf = (wanted: string) => {
    const visit = visits.find(({ visitor }) => visitor === wanted);
    if (visit === undefined) throw new Error(`no visit as ${wanted}`);
    return visit;
  };

  before(async function () {
    skipUnlessInteropInstalled(this);
    skipUnlessInstalled(this, 'chromium', '--version');
    service = await startService({ DATABASE_URL: `sqlite:${join(folder, 'plants.db')}`, BASE_PATH: '/garden' });
    forward = stripPrefix('/shop', service.port);
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    base = `http://127.0.0.1:${portOf(proxy)}/shop/garden`;
    const program = [inRepository('test/interop/visit-page.js'), `${base}/`, TOKEN];
    const { stdout } = await promisify(execFile)(process.execPath, program, { timeout: 150_000 });
    visits = JSON.parse(stdout);
  });
  after(async () => {
    proxy.close();
    await service?.stop();
  });

  for (const visitor of VISITORS) {
    it(`creates a plant and shows it and both kinds of conflict (${visitor})`, () => {
      const { responses } = visitOf(visitor);
      expect(responses.map(({ status }) => status)).to.deep.equal([200, 409, 409]);
      expect(responses.map(({ shown }) => shown['error'])).to.deep.equal([undefined, 40902, 40901]);
      expect(responses[0]?.shown).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    });

    it(`requests nothing from other hosts and logs only the conflicts (${visitor})`, () => {
      const { requests, consoleMessages } = visitOf(visitor);
      expect(requests).to.include(`${base}/plants`);
      expect(requests.filter((url) => !url.startsWith(`${base}/`) && !url.startsWith('data:'))).to.deep.equal([]);
      expect(consoleMessages).to.deep.equal([CONFLICT, CONFLICT]);
    });

    it(`fits the screen and follows the colour scheme of the system (${visitor})`, () => {
      const { appearance, changedAppearance, colorScheme } = visitOf(visitor);
      expect(appearance).to.deep.equal(APPEARANCES[colorScheme]);
      expect(changedAppearance).to.deep.equal(APPEARANCES[colorScheme === 'dark' ? 'light' : 'dark']);
    });

    it(`does not store the token (${visitor})`, () => {
      expect(visitOf(visitor)).to.include({ storesToken: false, isLoggedOutAfterReload: true });
    });

    it(`has no accessibility violations except those of Swagger UI (${visitor})`, function () {
      const { accessibilityViolations } = visitOf(visitor);
      skipUnless(this, accessibilityViolations !== undefined, 'axe-core; run npm ci --prefix test/interop');
      expect(SWAGGER_UI_VIOLATIONS).to.include.members([...(accessibilityViolations ?? [])]);
    });
  }

  it('always shows a focus indicator (keyboard)', () => {
    expect(visitOf('keyboard').withoutFocusIndicator).to.deep.equal([]);
  });

  it('stores the ids exactly as typed', async () => {
    const ids: bigint[] = [];
    for await (const plants of service?.repository.readAll() ?? []) ids.push(...plants.map(({ id }) => id));
    expect(ids).to.include(9007199254740993n);
    expect(ids.map(String)).to.deep.equal(visits.map(({ id }) => id));
  });
});
