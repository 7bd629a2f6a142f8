import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serve } from '../../support/client.js';
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

  it('that stops the service also reaches the listeners of others, such as a tracer', async () => {
    writeFileSync(join(folder, 'tracer.mjs'), "process.on('SIGTERM', () => console.log('traced'));");
    const service = serve(folder, { DATABASE_URL: 'memory:', NODE_OPTIONS: '--import=./tracer.mjs' });
    await service.port();
    expect(await service.stop()).to.equal(0);
    expect(service.stdout).to.match(/^traced$/m);
  });
});
