export interface Plant {
  readonly id: number;
  readonly name: string;
  readonly tag?: string | undefined;
}

/** Returns why no store can hold the plant exactly, if so. */
export function problemOf({ name, tag = '' }: Plant): string | undefined {
  for (const [field, text] of Object.entries({ name, tag })) {
    if (text.includes('\0') || !text.isWellFormed()) return `${field} contains U+0000 or a lone surrogate`;
  }
  return undefined;
}

export function isSame(a: Plant, b: Plant): boolean {
  return a.id === b.id && a.name === b.name && a.tag === b.tag;
}
