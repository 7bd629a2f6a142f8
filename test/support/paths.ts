import { fileURLToPath } from 'node:url';

/** Returns the absolute path of a file in the repository. The compiled module is in `dist/test/support`. */
export function inRepository(path: string): string {
  return fileURLToPath(new URL(`../../../${path}`, import.meta.url));
}
