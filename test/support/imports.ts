import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { PACKAGES, readManifest } from './packages.js';
import { inRepository } from './paths.js';

/** An import or re-export. */
export interface Import {
  /** The importing file, such as `/core/index.ts`. */
  readonly from: string;
  /** The imported file, such as `/core/plant`, or package, such as `koa` or `node:fs`. */
  readonly to: string;
}

const IMPORT = /(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*['"]([\w@./:-]+)['"]/g;
const COMMENT_LINE = /^\s*(\/\/|\/?\*).*$/gm;

/** The `index` of each entry point, such as `/core/index`, by its name. */
const entryPoints = new Map(
  PACKAGES.flatMap((folder) => {
    const { name, exports } = readManifest(folder);
    return Object.entries(exports).map(([entry, path]) => [
      posix.join(name, entry),
      posix.join('/', folder, path.replace('/dist', '').replace(/\.js$/, '')),
    ]);
  }),
);

/** Returns the TypeScript files in a folder, such as `/core`. */
export function filesIn(folder: string): string[] {
  const names = readdirSync(inRepository(folder.slice(1)), { recursive: true, encoding: 'utf8' });
  const isSource = (name: string) => name.endsWith('.ts') && !/(^|\/)(dist|node_modules)\//.test(name);
  return names.filter(isSource).map((name) => `${folder}/${name}`);
}

/** Returns the imports of each file in a folder. */
export function importsIn(folder: string): Import[] {
  return filesIn(folder).flatMap((from) => importsOf(from, readFileSync(inRepository(from.slice(1)), 'utf8')));
}

/** Returns the imports in the text of a file. */
export function importsOf(from: string, text: string): Import[] {
  return [...text.replaceAll(COMMENT_LINE, '').matchAll(IMPORT)].map(([, path = '']) => ({
    from,
    to: path.startsWith('.')
      ? posix.join(posix.dirname(from), path.replace(/\.js$/, ''))
      : (entryPoints.get(path) ?? path),
  }));
}
