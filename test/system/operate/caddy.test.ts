import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { request as requestTls } from 'node:https';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { CREATE_HEADERS, create, serve } from '../../support/client.js';
import { Program } from '../../support/executable.js';
import { configuration } from '../../support/guide.js';
import { freePort } from '../../support/port.js';
import { TOKEN } from '../../support/service.js';
import { skipUnlessInstalled } from '../../support/skip-unless.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('Behind Caddy configured as in the guide', () => {
  const folder = temporaryFolder();
  let service: Program;
  let servicePort: number;

  before(async function () {
    skipUnlessInstalled(this, 'caddy', 'version');
    service = serve(folder, { DATABASE_URL: 'memory:' });
    servicePort = await service.port();
  });

  /**
   * Starts Caddy in front of instances, with the guide's configuration except for ports and paths, and a certificate of its
   * own. `port` is without TLS.
   */
  async function startCaddy(ports: readonly number[]) {
    const own = mkdtempSync(join(folder, 'caddy-'));
    const [port, tlsPort] = [await freePort(), await freePort()];
    const accessLog = join(own, 'access.log');
    const local = ['admin off', `http_port ${port}`, `https_port ${tlsPort}`, 'local_certs', 'skip_install_trust'];
    const caddyfile = configuration('Caddyfile', {
      '\n{\n': `\n{\n${local.join('\n')}\n`,
      'plants.example.org {': 'plants.example.org, http:// {',
      '127.0.0.1:3000 127.0.0.1:3100': ports.map((one) => `127.0.0.1:${one}`).join(' '),
      '/var/log/caddy/plant-store.log': accessLog,
    });
    writeFileSync(join(own, 'Caddyfile'), caddyfile);
    const program = new Program(own, ['caddy', 'run', '--config', 'Caddyfile'], { HOME: own, XDG_DATA_HOME: own });
    await program.waitForOutput(/certificate obtained successfully/);
    return { port, tlsPort, accessLog };
  }

  it('clients get the responses of the service over TLS, and 421 for another host', async () => {
    const { tlsPort } = await startCaddy([servicePort]);
    const responses: unknown[] = [];
    for (const Host of ['plants.example.org', 'elsewhere.example']) {
      const address = { host: '127.0.0.1', port: tlsPort, servername: 'plants.example.org', rejectUnauthorized: false };
      const headers = { ...CREATE_HEADERS, Host };
      const outgoing = requestTls({ ...address, method: 'POST', path: '/plants', headers });
      outgoing.end('{"id":-1,"name":"Monstera"}');
      const [response] = await once(outgoing, 'response');
      responses.push([response.statusCode, await text(response)]);
    }
    expect(responses).to.deep.equal([
      [200, '{"name":"Monstera"}'],
      [421, ''],
    ]);
  });

  it('the response and both logs have the same request id, and the log of Caddy does not have the token', async () => {
    const { port, accessLog } = await startCaddy([servicePort]);
    const id = (await create(port, { id: 1n, name: 'Monstera' }))?.headers['x-request-id'];
    await service.waitForOutput(RegExp(`"requestId":"${id}"`));
    const log = readFileSync(accessLog, 'utf8');
    expect(JSON.parse(log).resp_headers['X-Request-Id']).to.deep.equal([id]);
    expect(log).not.to.include(TOKEN);
  });

  it('a body above the limit gets 41301', async () => {
    const { port } = await startCaddy([servicePort]);
    for (let times = 0; times < 10; times++)
      expect((await create(port, { id: 2n, name: 'x'.repeat(1_100_000) }))?.outcome).to.equal(41301);
  });

  it('a create gets 50301 with Retry-After if no instance can be reached', async () => {
    const { port } = await startCaddy([await freePort(), await freePort()]);
    const { outcome, headers } = (await create(port, { id: 3n, name: 'Monstera' })) ?? {};
    expect(outcome).to.equal(50301);
    expect(headers)
      .to.include({ 'content-type': 'application/json', 'retry-after': '5' })
      .and.have.property('x-request-id');
  });
});
