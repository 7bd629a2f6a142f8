import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../../support/client.js';
import { temporaryFolder } from '../../support/temporary.js';

// test/composition/cli/serve.test.ts sends signals to a service that has started.
describe('A signal', () => {
  const folder = temporaryFolder();

  it('ends the service while it starts', async () => {
    const plugin = "console.log('waits'); setInterval(() => {}, 1000); await new Promise(() => {});";
    writeFileSync(join(folder, 'plugin.mjs'), plugin);
    const service = serve(folder, { PLUGINS: './plugin.mjs', DATABASE_URL: 'memory:' });
    await service.waitForOutput(/waits/);
    expect(await service.stop()).to.equal('SIGTERM');
  });
});
