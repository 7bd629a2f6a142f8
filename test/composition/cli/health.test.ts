import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type RequestListener } from 'node:http';
import { createServer } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { before, describe, it } from 'mocha';
import { Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { portOf } from '../../support/port.js';
import { temporaryFolder } from '../../support/temporary.js';
import { runInProcess } from './in-process.js';

const IMAGE_FOLDER = '/opt/plant-store/';

describe('health', () => {
  const folder = temporaryFolder();
  const health = (environment: Readonly<Record<string, string>>) => runInProcess(folder, ['health'], environment);
  let line: readonly [string, ...string[]];
  before(() => {
    const [, command = ''] =
      /^HEALTHCHECK .* CMD (.*)$/m.exec(readFileSync(inRepository('Containerfile'), 'utf8')) ?? [];
    line = JSON.parse(command.replace(IMAGE_FOLDER, inRepository('.')));
  });
  /** Runs the line of the image, with flags. */
  const check = (environment: Readonly<Record<string, string>>, ...flags: string[]) =>
    new Program(folder, [...line, ...flags], environment).result();

  it('is the check of the image, and reads the settings of the service', async () => {
    const respond: RequestListener = ({ url }, res) => res.writeHead(url === '/healthz' ? 200 : 503).end();
    const service = createHttpServer(respond).listen(0, '::1');
    await once(service, 'listening');
    const port = `${portOf(service)}`;
    // Node 24 would use it.
    const proxy = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' };
    const healthy = { exitCode: 0, stdout: 'healthy\n', stderr: '' };
    const settings = { ...proxy, MANAGEMENT_HOST: '::1', MANAGEMENT_PORT: ` ${port} ` };
    expect(await check(settings)).to.deep.equal(healthy);
    expect(await check({ MANAGEMENT_PORT: 'off' }, '--management-host=::1', `--management-port=${port}`)).to.deep.equal(
      healthy,
    );
    service.close();
    const { exitCode, stdout } = await check(settings);
    expect([exitCode, stdout]).to.deep.equal([1, `unhealthy: connect ECONNREFUSED ::1:${port}\n`]);
  });

  it('prints that it is not configured if MANAGEMENT_PORT is off or 0', async () => {
    for (const port of ['off', '0']) {
      const stdout = `not configured: MANAGEMENT_PORT is ${port}\n`;
      expect(await health({ MANAGEMENT_PORT: port })).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
    }
  });

  it('prints unhealthy after another status or malformed HTTP, or without a response within 4 seconds', async () => {
    const other = createHttpServer((_, res) => res.writeHead(404).end()).listen(0, '127.0.0.1');
    const unresponsive = createServer().listen(0, '127.0.0.1');
    await Promise.all([once(other, 'listening'), once(unresponsive, 'listening')]);
    expect(await health({ MANAGEMENT_PORT: `${portOf(other)}` })).to.include({
      exitCode: 1,
      stdout: 'unhealthy: status 404\n',
    });
    let bytes = 'SSH-2.0\r\n';
    const malformed = createServer((socket) => socket.end(bytes)).listen(0, '127.0.0.1');
    await once(malformed, 'listening');
    const settings = { MANAGEMENT_PORT: `${portOf(malformed)}` };
    expect((await health(settings)).stdout).to.match(/^unhealthy: Parse Error/);
    // An error after the status changes nothing.
    bytes = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nZZZ';
    expect((await health(settings)).stdout).to.equal('healthy\n');
    mock.timers.enable({ apis: ['setTimeout'] });
    const result = health({ MANAGEMENT_PORT: `${portOf(unresponsive)}` });
    const [socket] = await once(unresponsive, 'connection');
    mock.timers.tick(4000);
    mock.timers.reset();
    expect(await result).to.include({ exitCode: 1, stdout: 'unhealthy: no response within 4 seconds\n' });
    socket.destroy();
    for (const server of [other, malformed, unresponsive]) server.close();
  });
});
