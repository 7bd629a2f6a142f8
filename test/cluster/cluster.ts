import { spawnSync } from 'node:child_process';
import { after, before } from 'mocha';
import { Program } from '../support/executable.js';
import { inRepository } from '../support/paths.js';
import { skipUnless } from '../support/skip-unless.js';
import { temporaryFolder } from '../support/temporary.js';
import { waitUntil } from '../support/wait-until.js';

export type Cluster = ReturnType<typeof startCluster>;
type Words = readonly string[];

/**
 * Starts a cluster of database servers for the surrounding suite, which stops it at its end. Call it inside `describe`.
 *
 * @param script a script in this folder; its first lines explain its commands
 * @param packages Debian's packages that the script needs
 */
export function startCluster(script: string, packages: Words) {
  let servers: Program | undefined;
  // Registered first, so that it runs before the folder is removed.
  after(() => servers?.stop());
  const folder = temporaryFolder();
  /** The URLs with which services connect. */
  const urls: string[] = [];
  before(async function () {
    // Downloads packages.
    this.timeout(400_000);
    skipUnless(this, process.getuid?.() === 0, 'root, for the servers of a cluster');
    const areInstalled = spawnSync('dpkg', ['--status', ...packages]).status === 0;
    skipUnless(this, areInstalled, `one of Debian's packages ${packages.join(', ')}`);
    servers = new Program(folder, toCommand('start'));
    servers.isLasting = true;
    const [, line = ''] = await servers.waitForOutput(/^(\w+:\/\/.*)\n/m);
    urls.push(...line.split(' '));
  });

  /** Returns the words that run a command of the script. */
  function toCommand(...words: Words): [string, ...string[]] {
    return [inRepository(`test/cluster/${script}`), folder, ...words];
  }

  /** Runs a command of the script, and returns what it prints; throws if the command fails. */
  async function run(...words: Words): Promise<string> {
    const { exitCode, stdout, stderr } = await new Program(folder, toCommand(...words)).result();
    if (exitCode !== 0) throw new Error(`${words.join(' ')}: ${stderr}`);
    return stdout.trim();
  }

  /** Waits until a command of the script succeeds and prints what `isExpected` accepts; by default, anything. */
  function waitFor(command: string, isExpected = (_printed: string): boolean => true): Promise<void> {
    const hasPrinted = () => run(...command.split(' ')).then(isExpected, () => false);
    return waitUntil(command, hasPrinted);
  }

  return { folder, urls, toCommand, run, waitFor };
}
