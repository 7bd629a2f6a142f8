import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import { needsProgram } from '../support/needs.js';
import { inRepository } from '../support/paths.js';
import { startService, type TestService, TOKEN } from '../support/service.js';
import { temporaryFolder } from '../support/temporary.js';
import { needsWide } from './wide.js';

/** What `look-at-page.js` prints of one reader. */
interface Visit {
  readonly device: string;
  readonly colorScheme: string;
  readonly id: string;
  readonly answers: readonly { readonly status: number; readonly shown: Readonly<Record<string, unknown>> }[];
  readonly requests: readonly string[];
  readonly complaints: readonly string[];
  readonly look: Look;
  readonly changed: Look;
  readonly keepsToken: boolean;
  readonly isForgotten: boolean;
}

interface Look {
  readonly isDark: boolean;
  readonly background: string;
  readonly overflowPx: number;
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

const LIGHT = 'rgb(255, 255, 255)';
const DARK = 'rgb(28, 32, 34)';
/** Chromium tells of each answer that is an error; two of three are meant to be. */
const CONFLICT = 'error: Failed to load resource: the server responded with a status of 409 (Conflict)';

const READERS = ['desktop light', 'desktop dark', 'phone light', 'phone dark', 'keyboard light'];

describe('The page in Chromium, behind a proxy that puts a prefix before BASE_PATH', function () {
  this.timeout(180_000);
  const folder = temporaryFolder();
  const proxy = createServer((req, res) => forward(req, res));
  let service: TestService | undefined;
  let forward: (req: IncomingMessage, res: ServerResponse) => void = () => {};
  let base = '';
  let visits: readonly Visit[] = [];
  const visitOf = (reader: string) => {
    const visit = visits.find(({ device, colorScheme }) => `${device} ${colorScheme}` === reader);
    if (visit === undefined) throw new Error(`nobody was there as ${reader}`);
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
    visits = JSON.parse((await promisify(execFile)(process.execPath, program)).stdout);
  });
  after(async () => {
    proxy.close();
    await service?.stop();
  });

  for (const reader of READERS) {
    it(`a reader (${reader}) creates a plant, sees it, and sees both kinds of conflict`, () => {
      const { answers } = visitOf(reader);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 409, 409]);
      expect(answers.map(({ shown }) => shown['error'])).to.deep.equal([undefined, 40902, 40901]);
      expect(answers[0]?.shown).to.deep.equal({ name: 'Monstera', tag: 'indoor' });
    });

    it(`nothing is asked of another host, breaks the policy or fails (${reader})`, () => {
      const { requests, complaints } = visitOf(reader);
      expect(requests.filter((url) => !url.startsWith(`${base}/`) && !url.startsWith('data:'))).to.deep.equal([]);
      expect(complaints).to.deep.equal([CONFLICT, CONFLICT]);
    });

    it(`nothing is wider than the screen, and the colours follow the system (${reader})`, () => {
      const { look, changed, colorScheme } = visitOf(reader);
      const looks = { dark: { isDark: true, background: DARK }, light: { isDark: false, background: LIGHT } };
      const isLight = colorScheme === 'light';
      expect(look).to.deep.equal({ ...(isLight ? looks.light : looks.dark), overflowPx: 0 });
      expect(changed).to.deep.equal({ ...(isLight ? looks.dark : looks.light), overflowPx: 0 });
    });

    it(`the token is kept nowhere (${reader})`, () => {
      expect(visitOf(reader)).to.include({ keepsToken: false, isForgotten: true });
    });
  }

  it('the ids reached the storage as they were typed', async () => {
    const ids: bigint[] = [];
    for await (const plants of service?.plants.readAll() ?? []) ids.push(...plants.map(({ id }) => id));
    expect(ids).to.include(9007199254740993n);
    expect(ids.map(String)).to.deep.equal(visits.map(({ id }) => id));
  });
});
