import fc from 'fast-check';
import type { NewPlant } from '../../core/index.js';

const SURROGATES = 0x800;

/**
 * Generates code points that a name may contain: all except U+0000 and the surrogates. fast-check's unit `binary` would
 * enumerate them first, which takes most of a second.
 */
const codePoint = fc
  .integer({ min: 1, max: 0x10ffff - SURROGATES })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + SURROGATES));

/** Generates valid names and tags. */
export function storableText(constraints: { readonly maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...constraints, unit: codePoint });
}

/** Generates plants, some of which lack a tag. */
export function newPlant(
  id: fc.Arbitrary<bigint>,
  text: fc.Arbitrary<string> = storableText(),
): fc.Arbitrary<NewPlant> {
  return fc.record({ id, name: text, tag: text }, { requiredKeys: ['id', 'name'] });
}
