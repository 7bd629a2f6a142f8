import { cpSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { inRepository } from './paths.js';

/** Links the installed packages into a copy of the repository. Those of the workspace are those of the copy. */
export function linkModules(copy: string): void {
  const modules = join(copy, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(inRepository('node_modules')))
    if (name !== '@plant-store') symlinkSync(inRepository(`node_modules/${name}`), join(modules, name));
  const links = inRepository('node_modules/@plant-store');
  cpSync(links, join(modules, '@plant-store'), { recursive: true, verbatimSymlinks: true });
}
