export interface Plant {
  readonly id: bigint;
  readonly name: string;
  readonly tag?: string | undefined;
}

/** Returns why no store can hold the plant exactly, if so. */
export function problemOf({ id, name, tag = '' }: Plant): 'invalid-id' | 'invalid-text' | undefined {
  if (BigInt.asIntN(64, id) !== id) return 'invalid-id';
  const texts = [name, tag];
  return texts.every((text) => text.isWellFormed() && !text.includes('\0')) ? undefined : 'invalid-text';
}

export function isSame(a: Plant, b: Plant): boolean {
  return a.id === b.id && a.name === b.name && a.tag === b.tag;
}
