import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { createServer, type Server } from 'node:net';
import { mock } from 'node:test';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { CommandFolder } from '../../support/command-folder.js';
import { portOf } from '../../support/port.js';

describe('health', () => {
  const folder = new CommandFolder();
  const listen = async (server: Server) => {
    await once(server.listen(0, '::1'), 'listening');
    return { MANAGEMENT_HOST: '::1', MANAGEMENT_PORT: `${portOf(server)}` };
  };
  const health = (environment: Readonly<Record<string, string>>) => folder.run(['health'], environment);

  it('prints that it is not configured if MANAGEMENT_PORT is off or 0', async () => {
    for (const port of ['off', '0']) {
      const stdout = `not configured: MANAGEMENT_PORT is ${port}\n`;
      expect(await health({ MANAGEMENT_PORT: port })).to.deep.equal({ exitCode: 0, stdout, stderr: '' });
    }
  });

  it('prints healthy if /healthz responds 200, and otherwise why the service is unhealthy', async () => {
    for (const [server, exitCode, output] of [
      [createHttpServer(({ url }, res) => res.writeHead(url === '/healthz' ? 200 : 404).end()), 0, /^healthy\n$/],
      [createHttpServer((_, res) => res.writeHead(404).end()), 1, /^unhealthy: status 404\n$/],
      [createServer((socket) => socket.end('SSH-2.0\r\n')), 1, /^unhealthy: Parse Error/],
    ] as const) {
      const result = await health(await listen(server));
      expect(result.stdout).to.match(output);
      expect(result.exitCode).to.equal(exitCode);
      server.close();
    }
    const closed = await health({ MANAGEMENT_PORT: '1' });
    expect(closed.stdout).to.equal('unhealthy: connect ECONNREFUSED 127.0.0.1:1\n');
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
