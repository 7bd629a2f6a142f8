import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { describe, it } from 'mocha';

describe('A signal', () => {
  it('that arrives while startup occupies the event loop is not lost', () => {
    const { href } = new URL('../../../composition/cli/signals.js', import.meta.url);
    const script = `import { exitOnSignals, onStop } from ${JSON.stringify(href)};
      exitOnSignals();
      process.kill(process.pid, 'SIGTERM');
      onStop((signal) => console.log(signal));
      setTimeout(() => {}, 100);`;
    const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' });
    expect(stdout).to.equal('SIGTERM\n');
  });
});
