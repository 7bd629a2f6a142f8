import type { NewPlant } from '@plant-store/core';
import fc from 'fast-check';

/** Generates a code point that a name may contain. fast-check's unit `binary` would take most of a second to start. */
const codePoint = fc
  .integer({ min: 1, max: 0x10ffff })
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code));

/** Generates valid names and tags. */
export const storableText = (): fc.Arbitrary<string> => fc.string({ unit: codePoint });

/** Generates plants, some of which lack a tag. */
export function newPlant(id: fc.Arbitrary<bigint>, text = storableText()): fc.Arbitrary<NewPlant> {
  return fc.record({ id, name: text, tag: text }, { requiredKeys: ['id', 'name'] });
}
