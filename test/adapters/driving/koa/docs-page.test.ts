import { openApiDescription } from '@plant-store/adapters/api';
import { createKoaApp } from '@plant-store/adapters/koa';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { type CreateListener, httpServers, post, SWAGGER_UI, type TestServer } from '../../../support/http-server.js';
import { request } from '../../../support/raw-http.js';

/** The media types of the page and of what it loads. */
const FILES = {
  '/docs': 'text/html',
  '/docs/page.css': 'text/css',
  '/docs/page.js': 'text/javascript',
  '/docs/swagger-ui.css': 'text/css',
  '/docs/swagger-ui-bundle.js': 'text/javascript',
};

/** Mounts the API as Express does, which removes `/garden` from the URL. */
const createInExpress: CreateListener = (options) => {
  const app = createKoaApp(options).callback();
  return (req, res) => {
    const url = req.url?.replace(/^\/garden(?!\/)/, '/').replace(/^\/garden/, '');
    app(Object.assign(req, { originalUrl: req.url, url }), res);
  };
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

  it('responds 304 if the browser has the current version of a file', async () => {
    const etag = `${(await get('/docs'))?.headers['etag']}`;
    const current = await get('/docs', { 'If-None-Match': `"other", ${etag}` });
    expect(current).to.include({ status: 304, body: '' });
    expect(await get('/docs/page.css', { 'If-None-Match': etag })).to.include({ status: 200 });
  });

  it('redirects to the page by a URL that is relative to where the API is mounted, whatever the Host header', async () => {
    const mounted = await start({ swaggerUiFolder: SWAGGER_UI }, createInExpress);
    for (const [target, location] of [
      ['/', 'docs'],
      ['/?x', 'docs'],
      ['/garden/?x', 'docs'],
      ['/garden?x', './garden/docs'],
    ]) {
      const response = await mounted.exchange(request(`GET ${target}`, { 'X-Forwarded-Host': 'evil.example' }));
      expect(response, target).to.have.nested.include({ status: 302, 'headers.location': location });
    }
  });

  it('describes the path at which the API is mounted as its server', async () => {
    const mounted = await start({}, createInExpress);
    const response = await mounted.exchange(request('GET /garden/openapi.json?x=y'));
    expect(response?.json()).to.deep.equal({ ...openApiDescription, servers: [{ url: '/garden' }] });
  });

  it('is that of the user, whose schemas validate plants', async () => {
    const schemas = { NewPlant: { type: 'object', maxProperties: 2 } };
    const description = { ...openApiDescription, components: { schemas } };
    const server = await start({ description });
    expect((await server.exchange(request('GET /openapi.json')))?.json()).to.deep.equal(description);
    expect(await server.send(post('{"id":1,"name":"Aloe","tag":""}'))).to.equal(40002);
  });

  it('has no page by default', async () => {
    const server = await start();
    for (const path of ['/', ...Object.keys(FILES)])
      expect(await server.send(request(`GET ${path}`)), path).to.equal(40401);
  });
});
