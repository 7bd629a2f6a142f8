/** Imports another copy of a compiled module, such as `core/errors.js`, as a second package would have it. */
export function importCopy(module: string) {
  return import(new URL(`../../${module}?another-copy`, import.meta.url).href);
}
