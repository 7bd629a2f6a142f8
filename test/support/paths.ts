import { fileURLToPath } from 'node:url';

/** A file of the repository, by its path there. This file is compiled into `dist/test/support`. */
export function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
