import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { needs, needsProgram } from '../support/needs.js';
import { inRepository } from '../support/paths.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { needsWide } from './wide.js';

/** What `look-at-page.js` prints of one reader. */
interface Visit {
  readonly reader: string;
  readonly colorScheme: string;
  readonly id: string;
  readonly answers: readonly { readonly status: number; readonly shown: Readonly<Record<string, unknown>> }[];
  readonly barriers?: readonly string[];
  /** What had the focus without looking as if it had. */
  readonly unmarked: readonly string[];
  readonly complaints: readonly string[];
  readonly requests: readonly string[];
  readonly look: object;
  readonly changedLook: object;
  readonly keepsToken: boolean;
  readonly isForgotten: boolean;
}

/** What a reverse proxy does that knows a service under a prefix. */
function withoutPrefix(prefix: string, port: number) {
  return (req: IncomingMessage, res: ServerResponse): void => {
    const { method, headers, url = '' } = req;
    if (!url.startsWith(`${prefix}/`)) {
      res.writeHead(404).end();
      return;
    }
    const inner = request({ port, path: url.slice(prefix.length), method, headers }, (answer) => {
      res.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(res);
    });
    req.pipe(inner);
  };
}

const READERS = ['light', 'dark', 'phone-light', 'phone-dark', 'keyboard'];

const LOOKS: Readonly<Record<string, object>> = {
  light: { className: '', background: 'rgba(0, 0, 0, 0)', overflowPx: 0 },
  dark: { className: 'dark-mode', background: 'rgb(28, 32, 34)', overflowPx: 0 },
};

/** Chromium tells of each answer that is an error; two of three are meant to be. */
const CONFLICT = 'error: Failed to load resource: the server responded with a status of 409 (Conflict)';

/** What is in the way in Swagger UI itself, by the names of axe's rules. */
const BARRIERS_OF_SWAGGER_UI = ['heading-order', 'label-content-name-mismatch', 'nested-interactive', 'region'];

describe('The page in Chromium, behind a proxy that puts a prefix before BASE_PATH', function () {
  this.timeout(180_000);
  const folder = temporaryFolder();
  const proxy = createServer((req, res) => forward(req, res));
  let service: TestService | undefined;
  let forward: (req: IncomingMessage, res: ServerResponse) => void = () => {};
  let base = '';
  let visits: readonly Visit[] = [];
  const visitOf = (wanted: string) => {
    const visit = visits.find(({ reader }) => reader === wanted);
    if (visit === undefined) throw new Error(`nobody was there as ${wanted}`);
    return visit;
  };

  before(async function () {
    needsWide(this);
    needsProgram(this, 'chromium', '--version');
    service = await startService({ DATABASE_URL: `sqlite:${join(folder, 'plants.db')}`, BASE_PATH: '/garden' });
    forward = withoutPrefix('/shop', service.port);
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    const address = proxy.address();
    base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/shop/garden`;
    const program = [inRepository('test/wide/look-at-page.js'), `${base}/`, TOKEN];
    const { stdout } = await promisify(execFile)(process.execPath, program, { timeout: 150_000 });
    visits = JSON.parse(stdout);
  });
  after(async () => {
    proxy.close();
    await service?.stop();
  });

  for (const reader of READERS) {
    it(`${reader}: a reader creates a plant, sees it, and sees both kinds of conflict`, () => {
      const { answers } = visitOf(reader);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 409, 409]);
      expect(answers.map(({ shown }) => shown['error'])).to.deep.equal([undefined, 40902, 40901]);
      expect(answers[0]?.shown).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    });

    it(`${reader}: nothing is asked of another place, breaks the policy or fails`, () => {
      const { requests, complaints } = visitOf(reader);
      expect(requests).to.include(`${base}/plants`);
      expect(requests.filter((url) => !url.startsWith(`${base}/`) && !url.startsWith('data:'))).to.deep.equal([]);
      expect(complaints).to.deep.equal([CONFLICT, CONFLICT]);
    });

    it(`${reader}: nothing is wider than the screen, and the colours are those of the system, also when they change`, () => {
      const { look, changedLook, colorScheme } = visitOf(reader);
      expect(look).to.deep.equal(LOOKS[colorScheme]);
      expect(changedLook).to.deep.equal(LOOKS[colorScheme === 'dark' ? 'light' : 'dark']);
    });

    it(`${reader}: the token is kept nowhere`, () => {
      expect(visitOf(reader)).to.include({ keepsToken: false, isForgotten: true });
    });

    it(`${reader}: nothing is in the way of anybody but what Swagger UI puts there`, function () {
      const { barriers } = visitOf(reader);
      needs(this, barriers !== undefined, 'what test/wide needs: axe-core');
      expect(BARRIERS_OF_SWAGGER_UI).to.include.members([...(barriers ?? [])]);
    });
  }

  it('keyboard: it can always be seen what has the focus', () => {
    expect(visitOf('keyboard').unmarked).to.deep.equal([]);
  });

  it('the ids reached the storage as they were typed', async () => {
    const ids: bigint[] = [];
    for await (const plants of service?.plants.readAll() ?? []) ids.push(...plants.map(({ id }) => id));
    expect(ids).to.include(9007199254740993n);
    expect(ids.map(String)).to.deep.equal(visits.map(({ id }) => id));
  });
});
