import { Program } from './executable.js';

/**
 * Delays every sync of running processes, as a slow disk does, until the returned program is killed.
 *
 * @param pids the processes; their future children are included
 */
export async function slowSyncs(folder: string, pids: readonly number[], delayMs: number): Promise<Program> {
  const calls = 'fsync,fdatasync';
  const strace = new Program(
    folder,
    [
      'strace',
      '-f',
      ...pids.flatMap((pid) => ['-p', `${pid}`]),
      ...['-e', `trace=${calls}`, '-e', 'signal=none', '-e', `inject=${calls}:delay_enter=${delayMs * 1000}`],
      ...['-o', '/dev/null'],
    ],
    {},
  );
  for (const pid of pids) await strace.waitForOutput(new RegExp(`Process ${pid} attached`));
  return strace;
}
