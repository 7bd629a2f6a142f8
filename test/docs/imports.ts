import { readdirSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve, sep } from 'node:path';
import { inRepository } from '../support/paths.js';

/** An import or re-export. */
export interface Import {
  /** Path of the importing file from the root of the repository, such as `/core/index.ts`. */
  readonly from: string;
  /** Path of the imported file, such as `/core/index`, or the name of a package. */
  readonly to: string;
  /** Imported names; empty for `import * as` and for side-effect imports. */
  readonly names: readonly string[];
}

/** Returns every import and re-export in the TypeScript files of a folder of the repository. */
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
        from: toRepositoryPath(path),
        to: specifier.startsWith('.')
          ? toRepositoryPath(resolve(dirname(path), specifier.replace(/\.js$/, '')))
          : specifier,
        names: [...names.matchAll(/(?:\btype\s+)?(\w+)(?:\s+as\s+\w+)?/g)].map(([, name = '']) => name),
      }));
    });
}

function toRepositoryPath(path: string): string {
  return `/${relative(inRepository(''), path).split(sep).join('/')}`;
}
