import { readFileSync } from 'node:fs';
import { inRepository } from './paths.js';

type Ranges = Readonly<Record<string, string>>;

/** What the tests read of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly dependencies?: Ranges;
  readonly optionalDependencies?: Ranges;
  readonly devDependencies?: Ranges;
  readonly peerDependencies?: Ranges;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional: boolean }>>;
}

/** The folders of the packages; that of the service is the root. */
export const PACKAGES = ['core', 'adapters', 'test/contract', ''] as const;

/** Reads the manifest of the package in a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(inRepository(`${folder}/package.json`), 'utf8'));
}
