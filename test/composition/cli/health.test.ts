import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { portOf } from '../../support/port.js';

describe('health', () => {
  const folder = new CommandFolder();
  const listen = async (server: Server) => {
    await once(server.listen(0, '::1'), 'listening');
    return { MANAGEMENT_HOST: '::1', MANAGEMENT_PORT: `${portOf(server)}` };
  };
  const health = (environment: Readonly<Record<string, string>>) => folder.run(['health'], environment);

  it('is the check of the image, and uses no proxy', async () => {
    const server = createHttpServer(({ url }, res) => res.writeHead(url === '/healthz' ? 200 : 503).end());
    const [, line = ''] = /^HEALTHCHECK .* CMD (.*)$/m.exec(readFileSync(inRepository('Containerfile'), 'utf8')) ?? [];
    const command = JSON.parse(line.replace('/opt/plant-store/', inRepository('.')));
    // Node 24 would use it.
    const proxy = { NODE_USE_ENV_PROXY: '1', HTTP_PROXY: 'http://127.0.0.1:1' };
    const result = await new Program('.', command, { ...(await listen(server)), ...proxy }).result();
    expect(result).to.deep.equal({ exitCode: 0, stdout: 'healthy\n', stderr: '' });
    server.close();
  });

  it('prints that it is not configured if MANAGEMENT_PORT is off or 0', async () => {
    for (const port of ['off', '0']) {
      const stdout = `not configured: MANAGEMENT_PORT is ${port}\n`;
      expect(await health({ MANAGEMENT_PORT: port })).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
    }
  });

  it('prints unhealthy without a response of status 200', async () => {
    for (const [server, output] of [
      [createHttpServer((_, res) => res.writeHead(404).end()), /^unhealthy: status 404\n$/],
      [createServer((socket) => socket.end('SSH-2.0\r\n')), /^unhealthy: Parse Error/],
    ] as const) {
      const settings = await listen(server);
      const { exitCode, stdout } = await health(settings);
      expect(stdout).to.match(output);
      expect(exitCode).to.equal(1);
      server.close();
      expect((await health(settings)).stdout).to.match(/^unhealthy: connect ECONNREFUSED ::1:\d+\n$/);
    }
  });

  it('prints unhealthy without a response within 4 seconds', async () => {
    const server = createServer();
    const settings = await listen(server);
    mock.timers.enable({ apis: ['setTimeout'] });
    const result = health(settings);
    const [socket] = await once(server, 'connection');
    mock.timers.tick(4000);
    mock.timers.reset();
    expect(await result).to.include({ exitCode: 1, stdout: 'unhealthy: no response within 4 seconds\n' });
    socket.destroy();
    server.close();
  });
});
