/** Returns a log, and the lines that it gets. */
export function recordLog() {
  const lines: Readonly<Record<string, unknown>>[] = [];
  const write = (fields: object, message: string) => void lines.push({ ...fields, message });
  return { lines, log: { info: write, error: write } };
}
