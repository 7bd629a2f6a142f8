/** The runtime, if it has a `process`: browsers have none, and other runtimes only parts of it. */
const host: NodeJS.Process | undefined = typeof process === 'undefined' ? undefined : process;

/** Calls `listener` for each unhandled rejection and uncaught exception, until the returned function is called. */
export function listenForUnhandledErrors(listener: (error: unknown) => void): () => void {
  const events = ['unhandledRejection', 'uncaughtException'] as const;
  for (const event of events) host?.on?.(event, listener);
  return () => {
    for (const event of events) host?.off?.(event, listener);
  };
}

/** Counts the timers that keep the process running. Returns 0 if that is unknown. */
export function countTimers(): number {
  return host?.getActiveResourcesInfo?.().filter((type) => type === 'Timeout').length ?? 0;
}

/** Returns a function that collects garbage and returns the bytes in use, or `undefined` if the runtime is not Node. */
export function findGarbageCollector(): (() => number) | undefined {
  host?.getBuiltinModule?.('node:v8')?.setFlagsFromString?.('--expose-gc');
  const collect: unknown = host?.getBuiltinModule?.('node:vm')?.runInNewContext?.('globalThis.gc');
  if (typeof collect !== 'function') return undefined;
  return () => {
    collect();
    const { heapUsed, external } = process.memoryUsage();
    return heapUsed + external;
  };
}
