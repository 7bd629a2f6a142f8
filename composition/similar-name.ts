/** Returns the known name that is one typing error away: a character missing, added, replaced or swapped with the next. */
export function findSimilar(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => {
    const start = [...name].findIndex((character, index) => character !== other[index]);
    const [rest, otherRest] = start === -1 ? ['', other.slice(name.length)] : [name.slice(start), other.slice(start)];
    return (
      (rest.slice(1) === otherRest.slice(1) && rest !== otherRest) ||
      rest.slice(1) === otherRest ||
      rest === otherRest.slice(1) ||
      `${rest[1]}${rest[0]}${rest.slice(2)}` === otherRest
    );
  });
}
