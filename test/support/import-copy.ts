/** Imports another copy of a module, such as `#core/errors.js`, as a second package would have it. */
export function importCopy(module: string) {
  return import(`${import.meta.resolve(module)}?another-copy`);
}
