import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { inRepository } from './paths.js';

/** An import or re-export. */
export interface Import {
  /** Path of the importing file from the root of the repository, such as `/core/index.ts`. */
  readonly from: string;
  /** Path of the imported file, such as `/core/index`, or the name of a package. */
  readonly to: string;
  /** The names in braces. */
  readonly names: readonly string[];
}

/** An import or re-export: the names in braces, and the path. */
const IMPORT = /(?:(?:\{([^{}]*)\}\s*|\b)from|\bimport|\bimport\(|\brequire\()\s*['"]([\w@./:-]+)['"]/g;

/** Returns every import and re-export in the TypeScript files of a folder, such as `/core`. */
export function importsIn(folder: string): Import[] {
  const files = readdirSync(inRepository(folder.slice(1)), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) => {
      const from = `${folder}/${name}`;
      const text = readFileSync(inRepository(from.slice(1)), 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
      return [...text.matchAll(IMPORT)].map(([, names = '', path = '']) => ({
        from,
        to: path.startsWith('.') ? posix.join(posix.dirname(from), path.replace(/\.js$/, '')) : path,
        names: [...names.matchAll(/(?:\btype\s+)?(\w+)(?:\s+as\s+\w+)?/g)].map(([, each = '']) => each),
      }));
    });
}
