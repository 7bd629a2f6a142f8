import { SingleBar } from 'cli-progress';

/** How far something is, for a person who watches. */
export interface Progress {
  update(value: number): void;
  /** Makes room for a whole line of others; the bar comes back below it. */
  clear(): void;
  stop(): void;
}

/** Nobody watches. */
export const noProgress: Progress = { update() {}, clear() {}, stop() {} };

/** A bar on standard error where that is a terminal that can move its cursor, else nothing. The cursor stays, also where a signal ends the process. */
export function progressBar(unit: string, total?: number): Progress {
  if (!process.stderr.isTTY || process.env['TERM'] === 'dumb') return noProgress;
  const format =
    total === undefined ? `{value} ${unit}` : `{bar} {percentage}% | {value} of {total} ${unit} | {eta_formatted}`;
  const bar = new SingleBar({ format, stream: process.stderr });
  bar.start(total ?? 0, 0);
  return {
    update: (value) => bar.update(value),
    clear: () => {
      process.stderr.cursorTo(0);
      process.stderr.clearLine(1);
    },
    stop: () => bar.stop(),
  };
}
