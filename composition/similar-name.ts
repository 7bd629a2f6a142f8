/** Returns the known name that is one typing error away: a character missing, added, replaced or swapped with the next. */
export function findSimilar(name: string, known: readonly string[]): string | undefined {
  return known.find((other) => {
    const start = [...other, ''].findIndex((character, index) => character !== name[index]);
    const [rest, otherRest] = [name.slice(start), other.slice(start)];
    const isReplacedOrAdded = [otherRest.slice(1), otherRest].includes(rest.slice(1));
    return isReplacedOrAdded || [otherRest.slice(1), swap(otherRest)].includes(rest);
  });
}

const swap = ([first = '', second = '', ...others]: string) => [second, first, ...others].join('');
