import { SingleBar } from 'cli-progress';

/** Shows a bar on a capable terminal. Never hides the cursor, because an exit by signal would not restore it. */
export function progressBar(unit: string, total?: number, isShown = process.stderr.isTTY) {
  if (!isShown || process.env['TERM'] === 'dumb') return { update: (_value: number) => {}, clear() {}, stop() {} };
  const format =
    total === undefined ? `{value} ${unit}` : `{bar} {percentage}% | {value} of {total} ${unit} | {eta_formatted}`;
  const bar = new SingleBar({ format, stream: process.stderr });
  bar.start(total ?? 0, 0);
  return {
    update: (value: number) => bar.update(value),
    /** Clears the line for other output; the bar reappears below it. */
    clear: () => {
      process.stderr.cursorTo(0);
      process.stderr.clearLine(1);
    },
    stop: () => bar.stop(),
  };
}
