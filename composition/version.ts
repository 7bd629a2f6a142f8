import { readFileSync } from 'node:fs';

/** The version of the package, and the versions of Node that it supports. */
export const { version, engines }: { readonly version: string; readonly engines: { readonly node: string } } =
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
