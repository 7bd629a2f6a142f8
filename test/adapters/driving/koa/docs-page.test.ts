import { openApiDescription } from '@plant-store/adapters/api';
import { createKoaApp } from '@plant-store/adapters/koa';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CREATE_HEADERS, request } from '../../../support/client.js';
import { type CreateListener, httpServers, SWAGGER_UI } from '../test-server.js';

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

  it('serves the page and the files that it loads, which may connect to no other host', async () => {
    const server = await start({ swaggerUiFolder: SWAGGER_UI });
    for (const [path, type] of [
      ['/docs', 'text/html'],
      ['/docs/page.css', 'text/css'],
      ['/docs/page.js', 'text/javascript'],
      ['/docs/swagger-ui.css', 'text/css'],
      ['/docs/swagger-ui-bundle.js', 'text/javascript'],
    ]) {
      const response = await server.exchange(request(`GET ${path}?x`));
      expect(response, path).to.include({ status: 200 });
      expect(response?.headers).to.include({
        'content-type': `${type}; charset=utf-8`,
        'cache-control': 'no-cache',
        'x-content-type-options': 'nosniff',
      });
      expect(response?.headers['content-security-policy']).to.match(/^default-src 'none'; .*connect-src 'self';/);
      expect(response?.body).to.not.equal('');
      const etag = response?.headers['etag'];
      const current = await server.exchange(request(`GET ${path}`, { 'If-None-Match': `"other", ${etag}` }));
      expect(current, 'if the browser has the current version').to.include({ status: 304, body: '' });
    }
  });

  it('may be of a user, and has the path at which the API is mounted', async () => {
    const schemas = { NewPlant: { type: 'object', maxProperties: 2 } };
    const description = { ...openApiDescription, components: { schemas } };
    const server = await start({ description, swaggerUiFolder: SWAGGER_UI }, createInExpress);
    for (const [target, location] of [
      ['/', 'docs'],
      ['/garden/?x', 'docs'],
      ['/garden?x', './garden/docs'],
    ]) {
      const response = await server.exchange(request(`GET ${target}`));
      expect(response, target).to.have.nested.include({ status: 302, 'headers.location': location });
    }
    const response = await server.exchange(request('GET /garden/openapi.json?x=y'));
    expect(response?.json()).to.deep.equal({ ...description, servers: [{ url: '/garden' }] });
    const body = '{"id":1,"name":"Aloe","tag":""}';
    expect(await server.send(request('POST /garden/plants', CREATE_HEADERS, body))).to.equal(40002);
  });
});
