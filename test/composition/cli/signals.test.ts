import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { beginCreate, serve } from '../../support/client.js';
import { temporaryFolder } from '../../support/temporary.js';

describe('A signal', () => {
  const folder = temporaryFolder();

  it('ends the service while it starts', async () => {
    writeFileSync(
      join(folder, 'endless.mjs'),
      "import { createServer } from 'node:net'; createServer().listen(); console.log('waits'); await new Promise(() => {});",
    );
    const service = serve(folder, { PLUGINS: './endless.mjs', DATABASE_URL: 'memory:' });
    await service.waitForOutput(/waits/);
    expect(await service.stop()).to.equal('SIGTERM');
  });

  it('stops the service if it arrives in the last step of the start', async () => {
    const slow = `
      const write = (line) => { if (line.includes('"started"')) process.kill(process.pid, 'SIGTERM'); };
      export default (container) =>
        void container.rebind(Symbol.for('plant-store:LogDestination')).toConstantValue({ write });`;
    writeFileSync(join(folder, 'slow.mjs'), slow);
    const service = serve(folder, { PLUGINS: './slow.mjs', DATABASE_URL: 'memory:' });
    expect(await service.exited()).to.equal(0);
  });

  it('does not shorten the wait for clients if it is repeated', async () => {
    const service = serve(folder, { DATABASE_URL: 'memory:', SHUTDOWN_TIMEOUT: '60s' });
    const { finish } = await beginCreate(await service.port(), { id: 1n, name: 'Monstera' });
    await service.kill('SIGINT').waitForOutput(/"stopping"/);
    service.kill('SIGINT');
    expect(await finish().readResponse()).to.include({ outcome: 200 });
    expect(await service.exited()).to.equal(0);
  });
});
