import { fstatSync } from 'node:fs';

/** Priorities of lines (sd-daemon(3)), by level. */
const PRIORITIES: Readonly<Record<string, number>> = { trace: 7, debug: 7, info: 6, warn: 4, error: 3, fatal: 2 };

/** Returns whether standard error is the systemd journal (systemd.exec(5), `$JOURNAL_STREAM`). */
export function isJournal(): boolean {
  const stream = process.env['JOURNAL_STREAM'];
  if (!stream || process.stderr.fd === undefined) return false;
  // Numbers would stay in a buffer that misleads Node 20 when it follows symbolic links to modules.
  const { dev, ino } = fstatSync(process.stderr.fd, { bigint: true });
  return stream === `${dev}:${ino}`;
}

/** Returns a line for the journal, with the priority of its level. */
export function addPriority(line: string, level = /^\{"level":"(\w+)"/.exec(line)?.[1]): string {
  return `<${PRIORITIES[level ?? 'info'] ?? PRIORITIES['info']}>${line}`;
}
