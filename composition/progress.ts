import { SingleBar } from 'cli-progress';

/** A bar on standard error where that is a terminal, else nothing. */
export function progressBar(unit: string, total?: number): { update(value: number): void; stop(): void } {
  const format =
    total === undefined ? `{value} ${unit}` : `{bar} {percentage}% | {value} of {total} ${unit} | {eta_formatted}`;
  const bar = new SingleBar({ format, stream: process.stderr, noTTYOutput: false, hideCursor: true });
  if (!process.stderr.isTTY) return { update() {}, stop() {} };
  bar.start(total ?? 0, 0);
  return { update: (value) => bar.update(value), stop: () => bar.stop() };
}
