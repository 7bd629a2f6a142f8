import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { after, before } from 'mocha';
import { type CommandResult, Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import { skipUnless, skipUnlessInstalled } from '../../support/skip-unless.js';
import { waitUntil } from '../../support/wait-until.js';

/**
 * Boots a systemd for the surrounding suite, which kills it at its end. Skips the suite if that is impossible. Call it
 * inside `describe`.
 *
 * It shares the network of this machine, but neither processes nor files. This build is in `/opt/plant-store/current`.
 */
export function bootSystemd() {
  let process1 = 0;
  let program: Program | undefined;

  /** Starts a shell command in it, in the folder of the repository. */
  function spawn(command: string): Program {
    const target = ['--target', `${process1}`, '--cgroup', '--ipc', '--mount', '--pid', '--uts'];
    const script = `cd /opt/plant-store/current/node_modules/plant-store; ${command}`;
    return new Program('/', ['nsenter', ...target, 'sh', '-euc', script]);
  }

  /** Runs a shell command in it, in the folder of the repository. */
  function run(command: string, input?: string): Promise<CommandResult> {
    return spawn(command).result(input);
  }

  before(async function () {
    const namespaces = ['--cgroup', '--mount'];
    skipUnless(this, spawnSync('unshare', [...namespaces, 'true']).status === 0, 'the privileges of root');
    skipUnless(this, existsSync('/usr/lib/systemd/systemd'), 'systemd');
    skipUnlessInstalled(this, 'dbus-daemon', '--version');
    const script = inRepository('test/system/operate/systemd.sh');
    program = new Program('/', ['unshare', ...namespaces, script, inRepository(''), process.execPath]);
    process1 = Number((await program.waitForOutput(/^process 1: (\d+)$/m))[1]);
    const isUp = async () => (await run('systemctl is-active test.target')).exitCode === 0;
    await waitUntil('systemd is up', isUp);
  });
  after(async () => {
    if (program?.isRunning && process1 > 0) process.kill(process1, 'SIGKILL');
    await program?.exited();
  });
  return { spawn, run };
}
