import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { temporaryFolder } from '../../support/temporary.js';

// test/composition/cli/serve.test.ts sends signals to a service that has started.
describe('A signal', () => {
  const folder = temporaryFolder();
  const serveWith = (plugin: string) => {
    writeFileSync(join(folder, 'plugin.mjs'), plugin);
    return serve(folder, { PLUGINS: './plugin.mjs', DATABASE_URL: 'memory:' });
  };

  it('ends the service while it starts', async () => {
    const service = serveWith("console.log('waits'); setInterval(() => {}, 1000); await new Promise(() => {});");
    await service.waitForOutput(/waits/);
    expect(await service.stop()).to.equal('SIGTERM');
  });

  it('stops the service if it arrives in the last step of the start', async () => {
    const service = serveWith(`
      const write = (line) => { if (line.includes('"started"')) process.kill(process.pid, 'SIGTERM'); };
      export default (container) =>
        void container.rebind(Symbol.for('plant-store:LogDestination')).toConstantValue({ write });`);
    expect(await service.exited()).to.equal(0);
  });
});
