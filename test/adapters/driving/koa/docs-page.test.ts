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
    for (const target of ['/', '/?x']) {
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
      // The adapter itself, which calls createHash, is not served.
      expect(response?.body).to.not.be.empty.and.not.include('createHash');
      expect(response?.headers['content-security-policy']?.split('; ')).to.have.members(POLICY);
      const etag = `${response?.headers['etag']}`;
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
        const same = await get(path, { 'If-None-Match': known });
        expect(same, known).to.include({ status: 304, body: '' });
        expect(same?.headers).to.include({ etag });
      }
      expect(await get(path, { 'If-None-Match': `x${etag}x` })).to.include({ status: 200 });
    });
  }

  it('uses only relative URLs', async () => {
    const html = (await get('/docs'))?.body ?? '';
    const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
    const paths = links.filter((link) => link !== 'data:,').map((link) => new URL(link, 'http://test/docs').pathname);
    expect(paths).to.have.members([...Object.keys(FILES).filter((path) => path !== '/docs'), '/openapi.json']);
    for (const link of links) expect(link).to.not.match(/^(\/|https?:)/);
  });

  it('and its redirect are off by default', async () => {
    const off = await start();
    for (const path of ['/', ...Object.keys(FILES)])
      expect(await off.send(request(`GET ${path}`)), path).to.equal(40401);
  });
});
