import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { httpServers, SWAGGER_UI, type TestServer } from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';

/** The media types of the page and of what it loads. */
const FILES = {
  '/docs': 'text/html',
  '/docs/page.css': 'text/css',
  '/docs/page.js': 'text/javascript',
  '/docs/swagger-ui.css': 'text/css',
  '/docs/swagger-ui-bundle.js': 'text/javascript',
};

describe('The documentation', () => {
  const start = httpServers();
  let server: TestServer;
  before(async () => {
    server = await start({ swaggerUiFolder: SWAGGER_UI });
  });
  const get = (target: string, headers = {}) => server.exchange(request(`GET ${target}`, headers));

  it('serves the page and the files that it loads, which may connect to no other host', async () => {
    for (const [path, type] of Object.entries(FILES)) {
      const response = await get(`${path}?x`);
      expect(response, path).to.include({ status: 200 });
      expect(response?.headers).to.include({
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
      });
      expect(response?.headers['content-security-policy']).to.match(/^default-src 'none'; .*connect-src 'self';/);
      // The adapter itself, which calls createHash, is not served.
      expect(response?.body).to.not.be.empty.and.not.include('createHash');
    }
  });

  it('loads what it needs by relative URLs, so that it works behind a path prefix', async () => {
    const html = (await get('/docs'))?.body ?? '';
    const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
    for (const link of links) expect(link).to.not.match(/^(\/|https?:)/);
    const paths = links.filter((link) => link !== 'data:,').map((link) => new URL(link, 'http://test/docs').pathname);
    expect(['/docs', ...paths]).to.have.members([...Object.keys(FILES), '/openapi.json']);
  });

  it('responds 304 if the browser has the current version of a file', async () => {
    const etag = `${(await get('/docs'))?.headers['etag']}`;
    const current = await get('/docs', { 'If-None-Match': `"other", ${etag}` });
    expect(current).to.include({ status: 304, body: '' });
    expect(await get('/docs/page.css', { 'If-None-Match': etag })).to.include({ status: 200 });
  });

  it('redirects from / to a relative URL, whatever the Host header', async () => {
    const response = await get('/?x', { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example' });
    expect(response).to.include({ status: 302 }).and.have.nested.include({ 'headers.location': 'docs' });
    expect(JSON.stringify(response)).to.not.include('evil');
  });

  it('is off by default', async () => {
    const off = await start();
    for (const path of ['/', ...Object.keys(FILES)])
      expect(await off.send(request(`GET ${path}`)), path).to.equal(40401);
  });
});
