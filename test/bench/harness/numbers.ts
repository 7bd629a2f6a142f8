/** Parses a JSON object; the returned function returns a number by name and throws if it is missing. */
export function numbersIn(json: string): (name: string) => number {
  const values: unknown = JSON.parse(json);
  const entries = new Map<string, unknown>(typeof values === 'object' && values !== null ? Object.entries(values) : []);
  return (name) => {
    const value = entries.get(name);
    if (typeof value !== 'number') throw new TypeError(`no number ${name} in ${json}`);
    return value;
  };
}
