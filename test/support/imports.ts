import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { inRepository } from './paths.js';

/** An import or re-export: the names in braces, and the path. */
const IMPORT = /(?:(?:\{([^{}]*)\}\s*|\b)from|\bimport|\bimport\(|\brequire\()\s*['"]([\w@./:-]+)['"]/g;

/**
 * Returns every import and re-export in the TypeScript files of a folder, such as `/core`: the importing file, such as
 * `/core/index.ts`, the imported file, such as `/core/plant`, or package, and the names in braces.
 */
export function importsIn(folder: string) {
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
