import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { inRepository } from './paths.js';

/** Compares a text with the snapshot at `path` in the repository. With `ACCEPT=1`, writes the snapshot first. */
export function expectSnapshot(path: string, text: string): void {
  const file = inRepository(path);
  if (process.env['ACCEPT'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(text, `${path} differs; see docs/versions.md for what may change, then run npm run api to accept it`).to.equal(
    readFileSync(file, 'utf8'),
  );
}
