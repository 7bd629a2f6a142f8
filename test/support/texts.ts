import type { NewPlant } from '@plant-store/core';
import fc from 'fast-check';

/** Generates valid names and tags. fast-check's unit `binary` would take most of a second to start. */
export function storableText(): fc.Arbitrary<string> {
  const codePoint = fc.integer({ min: 1, max: 0x10ffff }).filter((code) => code < 0xd800 || code > 0xdfff);
  return fc.string({ unit: codePoint.map((code) => String.fromCodePoint(code)) });
}

/** Generates plants, some of which lack a tag. */
export function newPlant(id: fc.Arbitrary<bigint>, text = storableText()): fc.Arbitrary<NewPlant> {
  return fc.record({ id, name: text, tag: text }, { requiredKeys: ['id', 'name'] });
}
