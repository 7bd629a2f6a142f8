import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Program } from '../../support/executable.js';
import { inRepository } from '../../support/paths.js';
import type { Candidate } from './candidates.js';
import { TOKEN } from './load.js';
import type { Store } from './stores.js';

/** Length of a clock tick in /proc, independent of the kernel's own tick rate (`man 5 proc`). */
const TICK_MS = 10;

const read = (file: string) => readFileSync(`/proc/${file}`, 'utf8');

/** A running program. */
export type Server = Awaited<ReturnType<typeof startServer>>;

/** Starts a program, under `wrapper` if given, and waits until it listens. Its log goes to a file in `folder`. */
export async function startServer(
  { name, file, node = [process.execPath] }: Candidate,
  store: Store | undefined,
  folder: string,
  wrapper: readonly string[] = [],
) {
  const log = join(folder, 'server.log');
  const command = ['sh', '-c', 'exec "$@" 2>"$0"', log, ...wrapper, ...node, inRepository(file)] as const;
  const settings = { PORT: '0', MANAGEMENT_PORT: '0', ACCESS_TOKENS: TOKEN, DATABASE_URL: 'memory:' };
  const program = new Program(folder, command, { ...settings, ...store?.environment });
  const port = await program.port().catch(() => {
    throw new Error(`${name} did not start: ${readFileSync(log, 'utf8').slice(0, 2000)}`);
  });
  const { pid: first } = program.process;
  const pid = wrapper.length === 0 ? first : Number.parseInt(read(`${first}/task/${first}/children`), 10);
  return {
    port,
    /** Returns the user and system processor time used so far. */
    cpuMs() {
      // The program name, in parentheses, may contain spaces.
      const [, user, system] = /^.*\)(?: \S+){11} (\d+) (\d+) /s.exec(read(`${pid}/stat`)) ?? [];
      return (Number(user) + Number(system)) * TICK_MS;
    },
    /** Returns the resident memory. */
    memoryMib: () => Number(/^VmRSS:\s+(\d+) kB$/m.exec(read(`${pid}/status`))?.[1]) / 1024,
    /** Returns the peak resident memory. */
    peakMemoryMib: () => Number(/^VmHWM:\s+(\d+) kB$/m.exec(read(`${pid}/status`))?.[1]) / 1024,
    /** Kills the program and waits until it has exited. */
    kill: () => program.killGroup('SIGKILL').exited(),
  };
}
