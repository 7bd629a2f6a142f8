import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { inRepository } from './paths.js';

/** One import: the file that has it, and where it leads: to a file of this house, such as `/core/index`, or a package. */
export interface Import {
  readonly from: string;
  readonly to: string;
  /** What is imported by name; nothing where it is all, or nothing but the running of the file. */
  readonly names: readonly string[];
}

/** Every import, and every export from elsewhere, in the TypeScript files of a folder of the repository. */
export function importsIn(folder: string): Import[] {
  const files = readdirSync(inRepository(folder), { recursive: true, encoding: 'utf8' });
  return files
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules/'))
    .flatMap((name) => {
      const path = inRepository(`${folder}/${name}`);
      const text = readFileSync(path, 'utf8').replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '');
      const statements = text.matchAll(
        /(?:(?:\{([^{}]*)\}\s*|\b)from|\bimport|\bimport\(|\brequire\()\s*['"]([\w@./:-]+)['"]/g,
      );
      return [...statements].map(([, names = '', specifier = '']) => ({
        from: houseName(path),
        to: specifier.startsWith('.') ? houseName(resolve(dirname(path), specifier.replace(/\.js$/, ''))) : specifier,
        names: [...names.matchAll(/(?:\btype\s+)?(\w+)(?:\s+as\s+\w+)?/g)].map(([, name = '']) => name),
      }));
    });
}

function houseName(path: string): string {
  return `/${relative(inRepository(''), path).split(sep).join('/')}`;
}
