import { expect } from 'chai';
import { it } from 'mocha';
import { request } from '../../../support/raw-http.js';
import { httpSuite } from './support.js';

const FILES = {
  '/docs': 'text/html; charset=utf-8',
  '/docs/page.css': 'text/css; charset=utf-8',
  '/docs/page.js': 'text/javascript; charset=utf-8',
  '/docs/swagger-ui.css': 'text/css; charset=utf-8',
  '/docs/swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
];

httpSuite('The page', { docs: true }, ({ server, start }) => {
  const get = (target: string, headers = {}) => server().exchange(request(`GET ${target}`, headers));

  it('is where / redirects, whatever the Host header', async () => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Forwarded: 'host=evil.example' };
    for (const target of ['/', '/?x', 'http://evil.example/', 'http://evil.example', 'http://evil.example?x']) {
      const response = await get(target, headers);
      expect(response, target).to.include({ status: 302 }).and.have.nested.include({ 'headers.location': 'docs' });
      expect(JSON.stringify(response)).to.not.include('evil');
    }
  });

  for (const [path, type] of Object.entries(FILES)) {
    it(`serves ${path}, which browsers cache, revalidate and isolate`, async () => {
      const response = await get(`${path}?x`);
      expect(response).to.include({ status: 200 });
      expect(response?.headers).to.include({
        'content-type': type,
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      expect(response?.body).to.not.be.empty.and.not.include('createHash');
      expect(response?.headers['content-security-policy']?.split('; ')).to.have.members(POLICY);
      const same = await get(path, { 'If-None-Match': response?.headers['etag'] });
      expect(same).to.include({ status: 304, body: '' });
      expect(same?.headers).to.include({ etag: response?.headers['etag'] });
      expect(await get(path, { 'If-None-Match': '"another"' })).to.include({ status: 200 });
    });
  }

  for (const path of ['/', '/openapi.json', ...Object.keys(FILES)]) {
    it(`allows only GET and HEAD on ${path}`, async () => {
      const client = await server().connect(request(`HEAD ${path}`));
      const head = await client.readResponse('HEAD');
      const {
        date,
        'x-request-id': id,
        ...headers
      } = (await client.send(request(`GET ${path}`)).readResponse())?.headers ?? {};
      client.close();
      expect(head?.headers).to.include(headers);
      for (const method of ['POST', 'OPTIONS', 'DELETE']) {
        const rejected = await server().exchange(request(`${method} ${path}`));
        expect(rejected?.status).to.equal(405);
        expect(rejected?.headers).to.include({ allow: 'GET, HEAD' });
      }
    });
  }

  it('is served only under the path prefix', async () => {
    const own = await start({ docs: true, basePath: '/garden' });
    const fetchStatus = async (target: string) => (await own.exchange(request(`GET ${target}`)))?.status;
    for (const path of Object.keys(FILES)) {
      expect(await fetchStatus(`/garden${path}`)).to.equal(200);
      expect(await fetchStatus(path)).to.equal(404);
    }
    const redirect = await own.exchange(request('GET /garden/'));
    expect(redirect?.headers).to.include({ location: 'docs' });
    expect(await fetchStatus('/')).to.equal(404);
    expect(await fetchStatus('/garden')).to.equal(404);
  });

  it('uses only relative URLs', async () => {
    const html = (await get('/docs'))?.body ?? '';
    const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
    const paths = links.filter((link) => link !== 'data:,').map((link) => new URL(link, 'http://test/docs').pathname);
    expect(paths).to.have.members([...Object.keys(FILES).filter((path) => path !== '/docs'), '/openapi.json']);
    for (const link of links) expect(link).to.not.match(/^(\/|https?:)/);
  });

  it('and its redirect are off by default', async () => {
    const off = await start();
    for (const path of ['/', ...Object.keys(FILES)]) {
      for (const method of ['GET', 'POST']) {
        expect(await off.send(request(`${method} ${path}`)), path).to.equal(40401);
      }
    }
  });
});
