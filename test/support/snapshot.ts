import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { inRepository } from './paths.js';

/** Compares a text with the snapshot at `path` in the repository. With `ACCEPT=1`, writes the snapshot first. */
export function expectSnapshot(path: string, text: string): void {
  const file = inRepository(path);
  if (process.env['ACCEPT'] === '1') writeFileSync(file, text);
  const hint = `${path} differs; see docs/versions.md for what may change, then run npm run api to accept it`;
  expect(text, hint).to.equal(readFileSync(file, 'utf8'));
}
