import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect } from 'chai';
import { inRepository } from './paths.js';

/** Compares a text with a file of the repository that says what was accepted; `npm run api` writes the file instead. */
export function expectAccepted(path: string, text: string): void {
  const file = inRepository(path);
  if (process.env['ACCEPT'] === '1') {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  expect(text, `${path}: docs/versions.md says what may change, npm run api accepts it`).to.equal(
    readFileSync(file, 'utf8'),
  );
}
