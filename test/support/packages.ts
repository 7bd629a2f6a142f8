import { cpSync, existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from './paths.js';

type Ranges = Readonly<Record<string, string>>;

/** What the tests read of a package.json. */
interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly exports: Readonly<Record<string, string>>;
  readonly dependencies?: Ranges;
  readonly optionalDependencies?: Ranges;
  readonly devDependencies?: Ranges;
  readonly peerDependencies?: Ranges;
  readonly peerDependenciesMeta?: object;
}

/** The folders of the packages; that of the service is the root. */
export const PACKAGES = ['core', 'adapters', 'test/contract', ''] as const;

/** Reads the manifest of the package in a folder. */
export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(inRepository(`${folder}/package.json`), 'utf8'));
}

/** The entry points of the packages that are code. */
export const ENTRY_POINTS = PACKAGES.flatMap((folder) => {
  const { name, exports } = readManifest(folder);
  const paths = Object.keys(exports).filter((path) => !path.endsWith('.json'));
  return paths.map((path) => ({ folder, path, name: join(name, path) }));
});

/** Links the installed packages, and those of other folders, into a project that has no package of the same name. */
export function linkModules(project: string, ...others: readonly string[]): void {
  const modules = join(project, 'node_modules');
  // In a copy of the repository, these links lead to its own packages.
  const links = inRepository('node_modules/@plant-store');
  if (!existsSync(modules)) cpSync(links, join(modules, '@plant-store'), { recursive: true, verbatimSymlinks: true });
  for (const from of [inRepository('node_modules'), ...others])
    for (const name of readdirSync(from))
      if (!existsSync(join(modules, name))) symlinkSync(join(from, name), join(modules, name));
}
