import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { inRepository } from './paths.js';

/** An import or re-export. */
export interface Import {
  /** The importing file, such as `/core/index.ts`. */
  readonly from: string;
  /** The imported file, such as `/core/plant`, or package, such as `koa` or `node:fs`. */
  readonly to: string;
  /** The names in braces. */
  readonly names: readonly string[];
}

const IMPORT = /(?:(?:\{([^{}]*)\}\s*|\b)from|\bimport|\bimport\(|\brequire\()\s*['"]([\w@./:-]+)['"]/g;
const COMMENT_LINE = /^\s*(\/\/|\/?\*).*$/gm;

/** Returns the TypeScript files in a folder, such as `/core`. */
export function filesIn(folder: string): string[] {
  const names = readdirSync(inRepository(folder.slice(1)), { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.ts')).map((name) => `${folder}/${name}`);
}

/** Returns the imports of each file in a folder. */
export function importsIn(folder: string): Import[] {
  return filesIn(folder).flatMap((from) => importsOf(from, readFileSync(inRepository(from.slice(1)), 'utf8')));
}

/** Returns the imports in the text of a file. */
export function importsOf(from: string, text: string): Import[] {
  return [...text.replaceAll(COMMENT_LINE, '').matchAll(IMPORT)].map(([, names = '', path = '']) => ({
    from,
    to: path.startsWith('.') ? posix.join(posix.dirname(from), path.replace(/\.js$/, '')) : path,
    names: [...names.matchAll(/(?:\btype\s+)?(\w+)(?:\s+as\s+\w+)?/g)].map(([, each = '']) => each),
  }));
}
