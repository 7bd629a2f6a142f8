import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { httpServers, SWAGGER_UI, type TestServer } from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';

const FILES = [
  { title: 'serves the page', path: '/docs', type: 'text/html' },
  { title: 'serves its style', path: '/docs/page.css', type: 'text/css' },
  { title: 'serves its script', path: '/docs/page.js', type: 'text/javascript' },
  { title: 'serves the style of Swagger UI', path: '/docs/swagger-ui.css', type: 'text/css' },
  { title: 'serves the script of Swagger UI', path: '/docs/swagger-ui-bundle.js', type: 'text/javascript' },
];

const POLICY = [
  ...["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'"],
  ...["base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"],
];

describe('The documentation', () => {
  const start = httpServers();
  let server: TestServer;
  before(async () => {
    server = await start({ swaggerUiFolder: SWAGGER_UI });
  });
  const get = (target: string, headers = {}) => server.exchange(request(`GET ${target}`, headers));

  for (const { title, path, type } of FILES) {
    it(title, async () => {
      const response = await get(`${path}?x`);
      expect(response).to.include({ status: 200 });
      expect(response?.headers).to.include({
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'no-cache',
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
      });
      // The adapter itself, which calls createHash, is not served.
      expect(response?.body).to.not.be.empty.and.not.include('createHash');
      expect(response?.headers['content-security-policy']?.split('; ')).to.have.members(POLICY);
    });
  }

  it('responds 304 if the browser has the current version of a file', async () => {
    const etag = `${(await get('/docs'))?.headers['etag']}`;
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const response = await get('/docs', { 'If-None-Match': known });
      expect(response, known).to.include({ status: 304, body: '' });
      expect(response?.headers).to.include({ etag });
    }
    expect(await get('/docs', { 'If-None-Match': `x${etag}x` })).to.include({ status: 200 });
    expect(await get('/docs/page.css', { 'If-None-Match': etag })).to.include({ status: 200 });
  });

  it('redirects from /, whatever the Host header', async () => {
    const headers = { Host: 'evil.example', 'X-Forwarded-Host': 'evil.example', Forwarded: 'host=evil.example' };
    for (const target of ['/', '/?x']) {
      const response = await get(target, headers);
      expect(response, target).to.include({ status: 302 }).and.have.nested.include({ 'headers.location': 'docs' });
      expect(JSON.stringify(response)).to.not.include('evil');
    }
  });

  it('uses only relative URLs', async () => {
    const html = (await get('/docs'))?.body ?? '';
    const links = [...html.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, link = '']) => link);
    const paths = links.filter((link) => link !== 'data:,').map((link) => new URL(link, 'http://test/docs').pathname);
    expect(paths).to.have.members([...FILES.slice(1).map(({ path }) => path), '/openapi.json']);
    for (const link of links) expect(link).to.not.match(/^(\/|https?:)/);
  });

  it('is off by default', async () => {
    const off = await start();
    for (const path of ['/', ...FILES.map((file) => file.path)])
      expect(await off.send(request(`GET ${path}`)), path).to.equal(40401);
  });
});
