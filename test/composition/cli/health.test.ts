import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
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

  it('is the check of the image, with the settings of the service', async () => {
    const isHealth = (url = '') => (url === '/healthz' ? 200 : 503);
    const service = createHttpServer(({ url }, res) => res.writeHead(isHealth(url)).end()).listen(0, '::1');
    await once(service, 'listening');
    const port = `${portOf(service)}`;
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

  it('is not configured without a management listener, or with one on any free port', async () => {
    for (const port of ['off', '0']) {
      const stdout = `not configured: MANAGEMENT_PORT is ${port}\n`;
      expect(await health({ MANAGEMENT_PORT: port })).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
    }
  });

  it('is unhealthy with another status, or without a response in time', async () => {
    const other = createHttpServer((_, res) => res.writeHead(404).end()).listen(0, '127.0.0.1');
    const silent = createServer().listen(0, '127.0.0.1');
    await Promise.all([once(other, 'listening'), once(silent, 'listening')]);
    expect(await health({ MANAGEMENT_PORT: `${portOf(other)}` })).to.include({
      exitCode: 1,
      stdout: 'unhealthy: status 404\n',
    });
    mock.timers.enable({ apis: ['setTimeout'] });
    const result = health({ MANAGEMENT_PORT: `${portOf(silent)}` });
    const [socket] = await once(silent, 'connection');
    mock.timers.tick(4000);
    mock.timers.reset();
    expect(await result).to.include({ exitCode: 1, stdout: 'unhealthy: no response within 4 seconds\n' });
    socket.destroy();
    for (const server of [other, silent]) server.close();
  });
});
